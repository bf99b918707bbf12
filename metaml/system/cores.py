"""How the cores of this machine are shared: evaluations at a time, and threads for each of them."""

import math
import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""What the container may use of the machine: microseconds of processor time, and the period that they are for."""
MEGABYTES_PER_WORKER = 500
"""A worker needs about this much memory on a small table. More workers than the memory has room for are not started."""
MANY_CELLS, MOST_THREADS, FEWEST_WORKERS = 10_000_000, 4, 4
"""On larger tables an evaluation gets up to four threads, as long as four evaluations run at a time."""
BYTES_PER_CELL, PACKED = 6, 4
"""Of a csv file; a packed one holds about four times as much."""


def n_cores() -> int:
    """Return how many cores this process may use: those that its affinity and its container allow."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, int(_quota())))


def _quota() -> float:
    """Return the number of cores that the container's quota is worth; infinite without one."""
    try:
        quota, period = QUOTA.read_text(encoding="ascii").split()
        return max(float(quota) / float(period), 1.0)
    except (OSError, ValueError):  # no container, or a quota that is "max"
        return float(1 << 20)


def default_workers(iterations: int | None, threads: int = 1) -> int:
    """Return one worker for so many `threads` of this machine, as far as the memory goes; with `iterations` only one.

    With several workers, the order in which evaluations finish differs from search to search.

    >>> default_workers(10)
    1
    """
    if iterations:
        return 1
    import psutil

    room = int(psutil.virtual_memory().available / 1e6 / MEGABYTES_PER_WORKER)
    return max(1, min(n_cores() // threads, room))


def default_threads(iterations: int | None, n_cells: float) -> int:
    """Return the threads of an evaluation on a table of so many cells; with counted `iterations` only one.

    Small tables gain more from several evaluations at a time. On large ones few evaluations fit into the time, and
    each should be quick.

    >>> default_threads(None, 10_000)
    1
    """
    if iterations or n_cells < MANY_CELLS:
        return 1
    return max(1, min(MOST_THREADS, n_cores() // FEWEST_WORKERS))


def cells_of(data: object) -> float:
    """Return how many cells a table has, roughly by its size if it is the path of a file; 0 if nobody knows.

    >>> cells_of("no such file")
    0.0
    """
    if not isinstance(data, str | Path):
        return float(math.prod(getattr(data, "shape", (0,))))
    path = Path(data)
    try:
        size = path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0.0
    is_plain = path.suffix.lower() in (".csv", ".tsv", ".txt", ".arff", ".data")
    return size * (1 if is_plain else PACKED) / BYTES_PER_CELL
