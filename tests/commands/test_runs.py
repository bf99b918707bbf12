"""Stored runs explained and made again, from Python."""

import pytest

import metaml
from metaml.errors import BadDataset
from metaml_kb.errors import CannotOpen

FAST = {"algorithms": ("decision_tree", "k_neighbors"), "folds": 2, "iterations": 4, "kb": ":memory:"}
pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A knowledge base with six runs on the built-in data sets."""
    path = tmp_path_factory.mktemp("made") / "kb.db"
    report = metaml.bot(builtin=True, algorithms="decision_tree", runs=6, folds=2, seed=0, kb=path)
    assert (report.n_done, report.n_failed) == (6, 0)
    return path


def test_why_and_reproduce_tell_of_a_run_of_the_bot(made):
    with metaml.open_kb(made) as kb:
        key = kb.runs(dataset="iris")["run"][0]

        facts = metaml.why(key[:10], kb)
        again = metaml.reproduce(key[:10], kb=kb)

    assert (facts["run"], facts["dataset"]["name"]) == (key, "iris")
    assert again.is_same
    assert again.n_compared > 0


def test_a_run_on_a_frame_is_reproduced_from_the_frame(iris, tmp_path):
    asked = {"iterations": 1, "algorithms": "decision_tree", "kb": tmp_path / "kb.db"}
    metaml.tune(iris, "target", **FAST | asked)
    with metaml.open_kb(tmp_path / "kb.db") as kb:
        key = kb.runs()["run"][0]

    assert metaml.reproduce(key, iris, kb=tmp_path / "kb.db").is_same
    with pytest.raises(BadDataset, match="The frame is not the data"):
        metaml.reproduce(key, iris.head(100), kb=tmp_path / "kb.db")


def test_a_knowledge_base_that_is_missing_is_not_made(tmp_path):
    with pytest.raises(CannotOpen):
        metaml.why("1f3a", tmp_path / "missing.db")

    assert list(tmp_path.iterdir()) == []
