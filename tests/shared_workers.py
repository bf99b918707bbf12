"""Workers that all tests of a process share, also the examples of docstrings, which lie outside of this folder."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext

import pytest
from _pytest.doctest import DoctestModule

from metaml.data import Dataset
from metaml.evaluation import LocalExecutor

OFTEN_USED = ("decision_tree", "k_neighbors", "elastic_net", "random_forest")
"""Algorithms that most tests evaluate; their libraries are imported once for all workers of an executor."""


@pytest.fixture(scope="session")
def one_worker() -> Iterator[LocalExecutor]:
    """One worker, for all searches in which the order of the evaluations matters or which ask for no executor."""
    with LocalExecutor(1, preload=OFTEN_USED) as workers:
        yield workers


@pytest.fixture(scope="session")
def two_workers() -> Iterator[LocalExecutor]:
    """Two workers for all searches that are given an executor."""
    with LocalExecutor(2, preload=OFTEN_USED) as workers:
        yield workers


@pytest.fixture(scope="module")
def one_pool(one_worker: LocalExecutor) -> Iterator[None]:
    """Let all searches, bots and reproductions of a module that take no executor as an argument share a worker."""

    def shared(_: int, datasets: Iterable[Dataset] = (), **__: object) -> AbstractContextManager[LocalExecutor]:
        for dataset in datasets:
            one_worker.add(dataset)
        return nullcontext(one_worker)

    with pytest.MonkeyPatch.context() as patch:
        for module in ("evaluation", "tuning.run", "random_bot.bot", "records.reproduction"):
            patch.setattr(f"metaml.{module}.LocalExecutor", shared)
        yield


@pytest.fixture(scope="module", autouse=True)
def examples_share_a_worker(request: pytest.FixtureRequest) -> None:
    """Let searches in the examples of docstrings start no workers of their own."""
    if isinstance(request.node, DoctestModule):
        request.getfixturevalue("one_pool")
