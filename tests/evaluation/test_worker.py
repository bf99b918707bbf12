"""A worker: finds its algorithms, answers job after job, and is kept within its limits."""

import sys

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest
from metaml.evaluation.worker import _memory_ceiling, find_registry


def test_algorithms_are_found_by_the_name_of_their_registry():
    assert find_registry("metaml.algorithms:ALGORITHMS") is ALGORITHMS


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts private memory")
def test_the_kernel_refuses_memory_far_beyond_the_limit():
    with _memory_ceiling(10), pytest.raises(MemoryError):
        np.empty(2_000_000_000, dtype=np.int8)

    assert np.empty(2_000_000_000, dtype=np.int8).size == 2_000_000_000


def test_what_is_missing_here_is_no_outcome_of_a_job(run, two_classes, ask):
    job = ask(two_classes, "Constant")
    elsewhere = type(job)("0" * 32, job.algorithm, job.config, job.plan, 0, job.limits)

    with pytest.raises(BadRequest, match="no data set 000"):
        run(elsewhere)
    with pytest.raises(BadRequest, match="no algorithm 'Nothing'"):
        run(ask(two_classes, "Nothing"))
    assert run(job).status == "ok"


def test_thread_pools_of_workers_are_capped(run, two_classes, ask):
    outcome = run(ask(two_classes, "TellTale"))

    assert "OMP=1 pools=[1]" in outcome.error


def test_workers_are_long_lived(run, two_classes, ask):
    pids = {run(ask(two_classes, "TellTale")).error.split()[1] for _ in range(6)}

    assert len(pids) <= 2
