"""A file gets a write-ahead log when it is written; one that is only read stays as it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from metaml_kb import open_kb
from metaml_kb.exchange import create_from, export, import_file
from metaml_kb.transfer import difference, merge


@pytest.fixture
def theirs(kb, run_of, tmp_path):
    """A knowledge base without a log, as an export is."""
    kb.add_run(run_of(1))
    export(kb, tmp_path / "theirs.db")
    return tmp_path / "theirs.db"


def journal_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


def test_a_file_that_is_only_read_stays_as_it_is_to_the_byte(theirs):
    before = theirs.read_bytes()

    with open_kb(":memory:") as mine, open_kb(theirs) as other:
        difference(mine, other)
        difference(other, mine)
        merge(mine, other)
        import_file(mine, theirs)

    assert theirs.read_bytes() == before
    assert not list(theirs.parent.glob("theirs.db-*"))


def test_a_file_that_is_made_has_a_log(kb, theirs, tmp_path):
    create_from(tmp_path / "new.db", theirs)

    assert (journal_of(kb.name), journal_of(tmp_path / "new.db")) == ("wal", "wal")
    assert not list(tmp_path.glob("new.db-*"))


def test_a_file_that_is_written_gets_a_log(theirs, run_of):
    with open_kb(theirs) as other:
        other.add_run(run_of(2))

        assert journal_of(theirs) == "wal"
        assert len(other.runs()) == 2
