"""The contract of every executor. An executor joins by a line in EXECUTORS."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.errors import BadRequest
from metaml.evaluation import Executor, Job, Limits, LocalExecutor, MinimumScore, make_plan
from metaml.sources import builtin
from tests.cluster_processes import SECONDS, Cluster

EXECUTORS: dict[str, Callable[[Cluster, int], AbstractContextManager[Executor]]] = {
    "local": lambda _, n_workers: LocalExecutor(n_workers, preload=()),
    "dask": lambda cluster, n_workers: cluster.executor(n_workers),
}


@pytest.fixture(scope="module")
def iris() -> Dataset:
    return builtin.load("iris")


@pytest.fixture(scope="module", params=list(EXECUTORS))
def executor(request, iris, shared_cluster):
    with EXECUTORS[request.param](shared_cluster, 2) as found:
        found.add(iris)
        yield found


def job_of(dataset: Dataset, algorithm: str = "decision_tree", seconds: float = SECONDS, **options) -> Job:
    config = ALGORITHMS[algorithm].space(dataset.task).default()
    return Job(dataset.fingerprint, algorithm, config, make_plan(dataset, 3), 0, Limits(seconds), **options)


def test_each_job_comes_back_once_as_the_object_that_was_submitted(executor, iris):
    jobs = [job_of(iris), job_of(iris, "k_neighbors"), job_of(iris, "elastic_net")]
    tickets = [executor.submit(job) for job in jobs]

    answers = [executor.next(timeout=SECONDS) for _ in jobs]

    assert len(set(tickets)) == 3
    assert {id(job) for job, _ in answers} == {id(job) for job in jobs}
    assert {outcome.status for _, outcome in answers} == {"ok"}
    assert executor.next(timeout=0) is None


def test_the_same_job_has_the_same_scores(executor, iris):
    for _ in range(2):
        executor.submit(job_of(iris))

    (_, first), (_, second) = executor.next(timeout=SECONDS), executor.next(timeout=SECONDS)

    assert first.scores == second.scores


def test_a_limit_of_time_is_an_outcome(executor, iris):
    executor.submit(job_of(iris, "random_forest", seconds=0.01))

    _, outcome = executor.next(timeout=SECONDS)

    assert outcome.status == "timeout"


def test_a_cancelled_job_never_comes_back(executor, iris):
    ticket = executor.submit(job_of(iris, "random_forest"))
    executor.cancel(ticket)

    assert executor.next(timeout=0.2) is None


def test_next_waits_no_longer_than_its_timeout(executor, iris):
    executor.submit(job_of(iris, "random_forest"))

    # The job takes a hundred times as long as asking does.
    assert executor.next(timeout=0.0) is None
    executor.cancel()


def test_folds_that_are_reported_can_be_taken_once(executor, iris):
    ticket = executor.submit(job_of(iris, keep_models=True, tells_folds=True))
    executor.next(timeout=SECONDS)

    assert len(executor.take_folds(ticket)) == 3
    assert executor.take_folds(ticket) == ()


@pytest.mark.parametrize(("bar", "n_models"), [(0.5, 3), (1.5, 0)], ids=["useful", "too weak"])
def test_predictions_and_models_come_back_if_they_may_be_used(executor, iris, bar, n_models):
    executor.submit(job_of(iris, keep_predictions=True, keep_models=True, bar=MinimumScore("accuracy", bar)))

    _, outcome = executor.next(timeout=SECONDS)

    assert len(outcome.models) == n_models
    assert (outcome.predictions is None) == (n_models == 0)
    assert len(outcome.scores["accuracy"]) == 3


def test_a_job_on_an_unknown_data_set_raises(executor, iris):
    executor.submit(replace(job_of(iris), dataset="0" * 32))

    with pytest.raises(BadRequest):
        executor.next(timeout=SECONDS)
