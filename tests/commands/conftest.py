"""Data and knowledge bases for the twins of the commands."""

import pytest
from sklearn.datasets import load_iris

import metaml
from tests.experienced import fill


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).frame


@pytest.fixture(scope="module")
def experienced(tmp_path_factory):
    """A knowledge base with enough data sets to learn from."""
    path = tmp_path_factory.mktemp("experienced") / "kb.db"
    with metaml.open_kb(path) as kb:
        fill(kb, n_runs=24)
    return path
