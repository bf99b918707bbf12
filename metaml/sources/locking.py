"""A lock between processes, on a file: whoever comes second waits for the first, but not for ever."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_PAUSE_SECONDS = 0.05


@contextmanager
def locked(path: Path, *, seconds: float) -> Iterator[bool]:
    """Hold the lock on a file, made if need be, and give whether it was got.

    After `seconds` of waiting, or where files cannot be locked, it goes on without: use this to spare double work,
    not to keep data whole. The lock of a process that dies is free.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + seconds
    with path.open("a") as file:
        while not (is_held := _try_lock(file)) and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)
        yield is_held


def _try_lock(file: IO[str]) -> bool:
    """Return whether the lock was free; closing the file gives it back."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
