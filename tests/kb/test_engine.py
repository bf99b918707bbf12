"""Connections: where the database is, what a file is left as, and errors of the driver in a sentence."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from metaml_kb import open_kb
from metaml_kb.errors import CannotOpen, StorageFull
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


def test_a_full_disk_loses_only_what_did_not_fit(kb, run_of):
    kb.add_run(run_of(1))
    with kb.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    with pytest.raises(StorageFull, match=r"disk is full.*free some space"):
        kb.add_runs(run_of(n) for n in range(5000))

    with open_kb(kb.name) as again:
        assert len(again.runs()) == 1


def test_a_disk_too_full_for_a_new_knowledge_base_is_called_full(tmp_path):
    # What a knowledge base in use needs beside its file has 32 kB; no file may become that large here.
    script = (
        "import resource, sys, metaml_kb; resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384)); "
        "metaml_kb.open_kb(sys.argv[1])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "new.db")], check=False, capture_output=True, text=True
    )

    assert "StorageFull" in done.stderr
    assert "the disk is full" in done.stderr


@pytest.mark.parametrize(
    "place",
    [
        "postgresql://me:hunter2@127.0.0.1:1/nothing?connect_timeout=1",
        "postgresql://me@127.0.0.1:1/nothing?connect_timeout=1&password=hunter2",
        "postgresql://me@127.0.0.1:1/nothing?connect_timeout=1&passfile=/home/hunter2/pass&sslpassword=hunter2",
    ],
)
def test_a_password_is_never_shown(place):
    with pytest.raises(CannotOpen) as error:
        open_kb(place)

    assert "hunter2" not in str(error.value)
    assert "127.0.0.1:1/nothing?connect_timeout=1" in str(error.value)
    assert "cannot be reached" in str(error.value)


@pytest.mark.parametrize(
    "place", ["post gres://me:hunter2", "postgresql://me@host:hunter2/kb", "postgresql:///kb?host=here&port=hunter2"]
)
def test_an_unreadable_url_is_explained_without_repeating_it(place):
    with pytest.raises(CannotOpen, match=r"URL cannot be read\. Write it as ") as error:
        open_kb(place)

    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("place", ["postgresql://me:my@hunter2@host/kb", "postgresql://me:my@hunter2/x@host/kb"])
def test_a_password_with_an_at_sign_is_not_taken_for_the_address(place):
    with pytest.raises(CannotOpen, match="part of a password as %40") as error:
        open_kb(place)

    assert "hunter2" not in str(error.value)


def test_an_unknown_kind_of_database_names_the_driver():
    with pytest.raises(CannotOpen, match="No driver"):
        open_kb("nosuchdb://somewhere/kb")
