"""The file of a SQLite knowledge base: how a new one appears at once and complete, whatever others do meanwhile."""

import time
from contextlib import suppress
from pathlib import Path

CLOCK_SECONDS = 0.1
"""The clock of a file system may be late by this much."""


def forget_journal(path: Path) -> None:
    """Remove the journal of a deleted knowledge base: SQLite would replay it into the next one of the same name."""
    now = time.time()
    if path.exists():
        return
    for suffix in ("-wal", "-shm"):
        leftover = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError):
            # A newer journal belongs to another process that is creating a knowledge base here right now.
            if leftover.stat().st_mtime < now - CLOCK_SECONDS:
                leftover.unlink()


def appear(unfinished: Path, path: Path) -> None:
    """Give a finished file its final name, unless another process has created that file meanwhile."""
    try:
        # Unlike a rename, a hard link never replaces an existing file.
        path.hardlink_to(unfinished)
    except FileExistsError:
        return
    except OSError:
        # Some file systems have no hard links.
        if not path.exists():
            unfinished.rename(path)
