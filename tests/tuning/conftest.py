"""Executors and finished sessions that the tests of tuning share."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.sources import builtin
from metaml.tuning.run import tune
from metaml.tuning.session import TuneSession
from metaml_kb import open_kb
from tests.experienced import fill
from tests.tuning.sessions import settings_of


@pytest.fixture(scope="session")
def iris():
    """Return a data set with three classes."""
    return builtin.load("iris")


@pytest.fixture(scope="session")
def executor(two_workers):
    """Two workers for all tests of the package."""
    return two_workers


@pytest.fixture(scope="session")
def tuned(iris, executor, tmp_path_factory):
    """A knowledge base and what a session found."""
    with open_kb(tmp_path_factory.mktemp("tune") / "kb.db") as kb:
        session = TuneSession(iris, kb, settings_of(), executor)
        yield kb, session.run()


@pytest.fixture(scope="session")
def rare():
    """Return a table with few positives, which a tree and its neighbours find now and then."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(2600, 3))
    is_positive = columns[:, 0] + 0.7 * rng.normal(size=2600) > 1.7
    return from_frame(pd.DataFrame(columns, columns=list("abc")).assign(y=is_positive.astype(int)), target="y")


@pytest.fixture(scope="session")
def judged(rare, executor, tmp_path_factory):
    """The same for a metric of labels, which is judged after thresholds."""
    with open_kb(tmp_path_factory.mktemp("judged") / "kb.db") as kb:
        session = TuneSession(rare, kb, settings_of(metric="f1"), executor)
        yield kb, session.run(), session


@pytest.fixture(scope="session")
def experienced(iris, executor, tmp_path_factory):
    """A knowledge base with experience, and what a session found with it."""
    with open_kb(tmp_path_factory.mktemp("experienced") / "kb.db") as kb:
        fill(kb)
        yield kb, TuneSession(iris, kb, settings_of(n_iterations=12), executor).run()


@pytest.fixture(scope="session")
def finished(iris, one_worker, tmp_path_factory):
    """The folder, the result and the runs of a search from start to end."""
    output = tmp_path_factory.mktemp("tuned")
    with open_kb(":memory:") as kb:
        result = tune(iris, settings_of(n_iterations=6, seed=1), kb=kb, output=output, executor=one_worker)
        yield output, result, kb.runs()
