import sys

import numpy as np
import pytest

from metaml.evaluation.memory import MemoryMeter, release_memory
from metaml.evaluation.worker import _memory_ceiling


def test_the_peak_is_remembered_after_memory_was_freed():
    meter = MemoryMeter()
    large = np.ones(10_000_000)
    at_most = meter.peak()

    del large
    release_memory()

    assert at_most > 70
    assert meter.peak() >= at_most


def test_without_the_kernel_the_peak_is_the_largest_seen():
    meter = MemoryMeter()
    meter._kernel_counts = False
    before = meter.peak()

    large = np.ones(10_000_000)

    assert meter.peak() - before > 70
    assert large[0] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts private memory")
def test_the_kernel_refuses_memory_far_beyond_the_limit():
    with _memory_ceiling(10), pytest.raises(MemoryError):
        np.empty(2_000_000_000, dtype=np.int8)

    assert np.empty(2_000_000_000, dtype=np.int8).size == 2_000_000_000
