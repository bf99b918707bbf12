"""Recorded runs in a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metaml_kb import KnowledgeBase, open_kb
from tests.recorded import record


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """A knowledge base with 160 runs."""
    with open_kb(tmp_path / "kb.db") as kb:
        record(kb)
        yield kb
