"""The memory that an evaluation needs at most."""

import numpy as np

from metaml.evaluation.memory import MemoryMeter, release_memory


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
