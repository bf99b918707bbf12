"""Connections: find the database, open short transactions, explain database errors."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from metaml_kb.errors import CannotOpen, FileReplaced, KBError, StorageFull, TooSlow

BUSY_SECONDS = 60
HAS_LOG = "has write-ahead log"
WATCH = "file watch"
JOURNAL_SUFFIXES = ("-wal", "-shm")
FileIdentity = tuple[int, int]
# The key of the advisory lock that allows one PostgreSQL writer at a time. SQLite does this by itself.
WRITER_LOCK = 0x6D65_7461


def default_location() -> str:
    """Return where this user's knowledge base is: METAML_KB, else a file in the user's data folder."""
    return os.environ.get("METAML_KB") or str(user_data_path("metaml", appauthor=False) / "kb.db")


def locate(path_or_url: str | Path | None) -> URL:
    """Return the database URL for a path or a URL; for None, that of the user's own knowledge base."""
    text = str(path_or_url) if path_or_url is not None else default_location()
    if text == ":memory:":
        return make_url("sqlite://")
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise _unreadable() from None
    if url.get_backend_name() != "sqlite" and "@" in f"{url.host}{url.database}":
        # An @ ends the password, so the rest of the password would be shown as part of the address.
        raise CannotOpen("The knowledge base URL has more than one @. Write one that is part of a password as %40.")
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def _unreadable() -> CannotOpen:
    # Do not repeat the text: it may contain a password.
    return CannotOpen(
        "The knowledge base URL cannot be read. Write it as postgresql://user@host:5432/name, or give a file name."
    )


def sqlite_path(url: URL) -> Path | None:
    """Return the file of a SQLite URL; None for other databases and for one in memory."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return None
    return Path(url.database)


def display_name(url: URL) -> str:
    """Return the name to show to the user: the path of a file, or the URL without passwords."""
    path = sqlite_path(url)
    if path is not None:
        return str(path)
    if url.get_backend_name() == "sqlite":
        return "the knowledge base in memory"
    # In the query string, a password has many names, such as sslpassword and passfile.
    return url.difference_update_query([name for name in url.query if "pass" in name.lower()]).render_as_string()


def make_engine(url: URL) -> Engine:
    """Return the engine for a URL; nothing is opened yet."""
    try:
        if url.get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True)
        path = sqlite_path(url)
        if path is None:
            engine = create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
        else:
            engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
    except (NoSuchModuleError, ModuleNotFoundError) as missing:
        raise CannotOpen(
            f"No driver for {url.get_backend_name()} databases is installed ({missing}). "
            "For PostgreSQL run: pip install 'metaml[postgresql]'"
        ) from None
    except (ArgumentError, ValueError):
        raise _unreadable() from None
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    if path is not None:
        FileWatch(path.absolute()).begin(engine)
    return engine


class FileWatch:
    """Notices that the file of an engine is gone, because SQLite does not: it goes on in a file without a name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: FileIdentity | None = None
        self._journal: dict[Path, FileIdentity | None] = {}

    def begin(self, engine: Engine) -> None:
        """Check before each new connection, which would create an empty file, and before each transaction."""
        event.listen(engine, "do_connect", self.check)
        event.listen(engine, "connect", self._introduce)
        event.listen(engine, "begin", self.check, insert=True)

    def _introduce(self, _connection: sqlite3.Connection, record: Any) -> None:
        record.info[WATCH] = self

    def check(self, *_: object) -> None:
        """Raise `FileReplaced` if the file was seen before and is no longer the one with its name."""
        found = _identity(self.path)
        if self._seen is not None and found != self._seen:
            what = "deleted or moved" if found is None else "replaced by another file"
            raise FileReplaced(f"{self.path} was {what} while it was in use. Put it back, or open the new one again.")
        self._seen = found
        journal = [self.path.with_name(self.path.name + suffix) for suffix in JOURNAL_SUFFIXES]
        self._journal = {path: _identity(path) for path in journal}

    def remove_journal(self) -> None:
        """Remove the journal of a file that is gone: SQLite would replay it into the next one of the same name."""
        for path, identity in self._journal.items():
            if identity is not None and _identity(path) == identity:
                path.unlink(missing_ok=True)


def _identity(path: Path) -> FileIdentity | None:
    """Return the device and the number of a file, which no other file has while it exists; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # We begin transactions ourselves: sqlite3 would begin them late and without the write lock.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA cache_size=-65536")
    # No memory mapping: a file that another program cuts would end this process by a signal, and the mapped pages count
    # as its memory.
    connection.execute("PRAGMA mmap_size=0")
    connection.execute("PRAGMA temp_store=MEMORY")
    # A commit returns only when the run is on the disk.
    connection.execute("PRAGMA synchronous=FULL")


def _begin_sqlite(connection: Connection) -> None:
    is_writer = connection.get_execution_options().get("metaml_writer", False)
    if is_writer and not connection.info.get(HAS_LOG):
        # With a write-ahead log, readers and a writer do not wait for one another. Only writers set it: it changes the
        # file.
        connection.exec_driver_sql("PRAGMA journal_mode=WAL").close()
        connection.info[HAS_LOG] = True
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Yield a connection that sees one consistent state until the block ends."""
    with explained(engine.url), engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            # By default each statement would see what other processes stored before it.
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Yield the only writing connection. Either everything in the block is stored, or nothing."""
    with explained(engine.url), engine.connect() as plain:
        connection = plain.execution_options(metaml_writer=True)
        with connection.begin():
            if connection.dialect.name == "postgresql":
                # One statement, as each takes a round trip. The columns of a result are computed from left to right.
                lock = "SELECT set_config('lock_timeout', %s, true), pg_advisory_xact_lock(%s)"
                connection.exec_driver_sql(lock, (f"{BUSY_SECONDS}s", WRITER_LOCK))
            yield connection


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Replace errors of the database driver by ours."""
    try:
        yield
    except DBAPIError as error:
        raise kb_error_for(url, error.orig or error) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise kb_error_for(url, error) from error


def kb_error_for(url: URL, error: BaseException) -> KBError:
    """Return our error for an error of the database driver."""
    name, message = display_name(url), str(error).strip().split("\n")[0]
    lowered = message.lower()
    # SQLite makes the index file of the write-ahead log large at once. If that fails, its message does not say "full".
    has_no_room = getattr(error, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE"
    if has_no_room or "disk is full" in lowered or "no space left" in lowered or "disk full" in lowered:
        return StorageFull(f"{name} cannot grow: the disk is full. Nothing was changed; free some space and repeat.")
    if lowered == "interrupted" or "statement timeout" in lowered:
        return TooSlow(f"{name} took too long to answer, and the question was stopped. Ask for less.")
    if "readonly" in lowered or "read-only" in lowered:
        return CannotOpen(f"{name} is read-only. Make it writable, or copy it and use the copy with --kb.")
    # SQLite quotes the damaged part of a file, which may not be valid text.
    if isinstance(error, UnicodeDecodeError) or "not a database" in lowered or "malformed" in lowered:
        return CannotOpen(f"{name} is not a metaml knowledge base, or it is damaged. Try: metaml kb doctor --kb {name}")
    if "locked" in lowered or "lock timeout" in lowered:
        return CannotOpen(
            f"{name} was locked by another program for {BUSY_SECONDS} seconds. Close that program and repeat."
        )
    if "unable to open" in lowered:
        return CannotOpen(f"{name} cannot be opened. Check that its folder exists and that you may write there.")
    if "disk i/o" in lowered:
        return CannotOpen(f"{name} cannot be read or written (disk I/O error). Check the disk, then: metaml kb doctor")
    if any(word in lowered for word in ("connect", "authentication", "resolve host")):
        return CannotOpen(f"{name} cannot be reached ({message}). Check the address and that the server runs.")
    return KBError(f"{name} refused the operation ({message}). Check it with: metaml kb doctor --kb {name}")
