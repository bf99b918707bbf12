"""Temporary folders of a process. Folders of processes that were killed are removed by the next process.

The owner of a folder holds a lock on it. The kernel releases the lock when the owner ends, even if it is killed.
systemd removes old temporary files, but not locked folders.
"""

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Self

PREFIX = "metaml-scratch-"
FRESH_SECONDS = 60.0
"""A folder that was changed more recently may belong to a process that is about to lock it."""


class Scratch:
    """A folder between `open` and `close`, for this process and its children only."""

    folder: Path

    def open(self) -> Self:
        """Make the folder, and remove those that killed processes left behind."""
        _sweep(Path(tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = os.open(self.folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return self

    def close(self) -> None:
        """Remove the folder with its content."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)


def _sweep(place: Path) -> None:
    """Remove the folders whose owners are gone."""
    for folder in place.glob(f"{PREFIX}*"):
        try:
            if time.time() - folder.stat().st_mtime < FRESH_SECONDS:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            # It belongs to another user, or was just removed.
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(lock)
