"""Small real data, and pools whose workers know the hostile algorithms."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.evaluation import Job, Limits, LocalExecutor, make_plan

# Workers, too, import it by name.
sys.path.append(str(Path(__file__).parent))
from hostile_algorithms import REGISTRY, small_frame


@pytest.fixture(scope="session")
def two_classes():
    return from_frame(small_frame(2), target="y", name="two")


@pytest.fixture(scope="session")
def three_classes():
    return from_frame(small_frame(3), target="y", name="three")


@pytest.fixture(scope="session")
def numbers():
    rng = np.random.default_rng(0)
    a = rng.random(60)
    return from_frame(
        pd.DataFrame({"a": a, "y": 3 * a + rng.random(60)}), target="y", task="regression", name="numbers"
    )


@pytest.fixture(scope="session")
def ask():
    """Return a function that makes a job on a data set."""

    def make(dataset, algorithm, config=None, *, seconds=30.0, megabytes=None, n_folds=2, seed=0, **options):
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
        found, outcome = executor.next(timeout=60)
        assert found is job
        return outcome

    return run
