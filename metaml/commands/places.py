"""What the twins of the commands take: data, knowledge bases, and where to report."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pandas as pd

from metaml.data.arrow import ArrowTable
from metaml.starter import open_with_starter
from metaml_kb import KnowledgeBase, open_kb

Place = str | Path | KnowledgeBase | None
Data = str | Path | pd.DataFrame | ArrowTable


def opened(kb: Place, *, create: bool = False) -> AbstractContextManager[KnowledgeBase]:
    """Return a knowledge base to use in a `with` block; one that was open already stays open."""
    if isinstance(kb, KnowledgeBase):
        return nullcontext(kb)
    if create:
        return open_with_starter(kb)
    return open_kb(kb, create=kb == ":memory:")


def on_note_of(verbose: int) -> Callable[[str], None]:
    """Return the function that takes notes: it prints them to standard error, or nothing if `verbose` is 0."""
    return _print if verbose else _ignore


def _print(text: str) -> None:
    print(text, file=sys.stderr)


def _ignore(_: str) -> None:
    pass
