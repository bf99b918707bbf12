"""The file of a SQLite knowledge base: a new one appears at once and complete, and one that is gone is rescued."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from sqlalchemy.pool import PoolProxiedConnection

from metaml_kb.engine import JOURNAL_SUFFIXES, WATCH, FileWatch, locate, make_engine
from metaml_kb.errors import FileReplaced
from metaml_kb.sql import KnowledgeBase

T = TypeVar("T")
CLOCK_SECONDS = 0.1
"""The clock of a file system may be late by this much."""


def forget_journal(path: Path) -> None:
    """Remove the journal of a deleted knowledge base: SQLite would replay it into the next one of the same name."""
    now = time.time()
    if path.exists():
        return
    for suffix in JOURNAL_SUFFIXES:
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


def kept_safe(kb: KnowledgeBase, act: Callable[[], T], on_rescue: Callable[[str], object]) -> T:
    """Return what `act` returns. If the file of the knowledge base is gone, rescue it and act again.

    `on_rescue` gets a sentence that says what happened. Raises `FileReplaced` if nothing could be rescued.
    """
    try:
        return act()
    except FileReplaced as gone:
        before = kb.name
        place = rescue(kb, gone)
        on_rescue(
            f"{before} was deleted or replaced by another program. All its runs, and those since then, are in {place}. "
            f"Bring them back with: metaml kb merge {before} {place}"
        )
        return act()


def rescue(kb: KnowledgeBase, gone: FileReplaced) -> Path:
    """Copy a knowledge base whose file is gone to a new file, use that from now on, and return its path.

    A connection that is still open sees all that was stored. Raises `gone` if there is none, or no room for a copy.
    """
    path = Path(kb.name)
    name = f"{path.stem}.rescued-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}"
    with closing(kb.engine.raw_connection()) as source:
        watch: FileWatch = source.info[WATCH]
        place = next((p for p in (path.with_name(name), Path(name)) if _is_copied(source, p)), None)
    if place is None:
        raise gone
    kb.engine.dispose()
    watch.remove_journal()
    kb.engine = make_engine(locate(place))
    return place


def _is_copied(source: PoolProxiedConnection, place: Path) -> bool:
    """Copy what a connection sees to a new file; return whether that was possible."""
    try:
        with closing(sqlite3.connect(place)) as copy:
            source.driver_connection.backup(copy)  # type: ignore[union-attr]
    except sqlite3.Error:
        with suppress(OSError):
            place.unlink()
        return False
    return True
