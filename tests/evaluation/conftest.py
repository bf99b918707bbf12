"""Jobs, and pools whose workers know the hostile algorithms."""

import pytest
from hostile_algorithms import REGISTRY

from metaml.evaluation import Job, Limits, LocalExecutor, make_plan


@pytest.fixture(scope="session")
def ask():
    """Return a function that makes a job on a data set."""

    def make(dataset, algorithm, config=None, *, seconds=300.0, megabytes=None, n_folds=2, seed=0, **options):
        plan = make_plan(dataset, n_folds=n_folds)
        return Job(dataset.fingerprint, algorithm, config or {}, plan, seed, Limits(seconds, megabytes), **options)

    return make


@pytest.fixture(scope="session")
def executor(two_classes, three_classes, numbers):
    with LocalExecutor(2, [two_classes, three_classes, numbers], registry=REGISTRY, preload=()) as executor:
        yield executor


@pytest.fixture
def run(executor):
    """Return a function that evaluates one job in the shared executor."""

    def run(job):
        executor.submit(job)
        found, outcome = executor.next(timeout=300)
        assert found is job
        return outcome

    return run
