"""A lock between processes, on a file: the second process waits for the first, up to a limit."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_PAUSE_SECONDS = 0.05


@contextmanager
def locked(path: Path, *, seconds: float) -> Iterator[bool]:
    """Hold the lock on a file, created if absent, and yield whether the lock is held.

    After `seconds` of waiting, or if files cannot be locked here, the block runs without the lock. Use it to avoid
    double work, not to protect data. When a process dies, its lock is released.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + seconds
    with path.open("a") as file:
        while not (is_held := _try_lock(file)) and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)
        yield is_held


def _try_lock(file: IO[str]) -> bool:
    """Take the lock if it is free and return whether it was; closing the file releases it."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
