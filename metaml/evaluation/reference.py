"""A small fixed workload. Its time makes the seconds of different machines comparable."""

from __future__ import annotations

import time

import numpy as np

VERSION = 1
"""Changes with the workload, so that seconds of different workloads are never compared."""
REPEATS = 3


def reference_seconds() -> float:
    """Return the seconds of the reference workload on this machine: one thread, best of three."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return min(_timed_workload() for _ in range(REPEATS))


def _timed_workload() -> float:
    start = time.perf_counter()
    workload()
    return time.perf_counter() - start


def workload() -> float:
    """Sort, multiply matrices and run plain Python; return a number that is always the same."""
    rng = np.random.default_rng(0)
    numbers = rng.random(600_000)
    matrix = rng.random((300, 300))
    for _ in range(3):
        numbers = np.sort(numbers[::-1] * 1.7 % 1.0)
    for _ in range(15):
        matrix = matrix @ matrix
        matrix /= matrix.max()
    total = 0
    for number in range(1_000_000):
        total = (total * 31 + number) % 1_000_003
    return float(numbers[len(numbers) // 2] + matrix[0, 0] + total)
