"""Connections: where a knowledge base lives, short transactions, and what a database error means to a person."""

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

from metaml_kb.errors import CannotOpen, KBError, StorageFull

BUSY_SECONDS = 60
# Large questions read most of the file: mapped, its pages need not be copied.
MAPPED_BYTES = 2_147_418_112
HAS_LOG = "has write-ahead log"
# The key of the advisory lock that lets one PostgreSQL writer in at a time, as SQLite does by itself.
WRITER_LOCK = 0x6D65_7461


def default_location() -> str:
    """Return the knowledge base of this user: METAML_KB, else a file in the user's data directory."""
    return os.environ.get("METAML_KB") or str(user_data_path("metaml", appauthor=False) / "kb.db")


def locate(path_or_url: str | Path | None) -> URL:
    """Return the database URL that a path, a URL or nothing stands for."""
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
        # A password that holds an @ ends there, and its rest would be shown as part of the address.
        raise CannotOpen("The knowledge base URL has more than one @. Write one that is part of a password as %40.")
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def _unreadable() -> CannotOpen:
    # The text may hold a password, so it is not repeated.
    return CannotOpen(
        "The knowledge base URL cannot be read. Write it as postgresql://user@host:5432/name, or give a file name."
    )


def sqlite_path(url: URL) -> Path | None:
    """Return the file behind a SQLite URL; None for other databases and for one in memory."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return None
    return Path(url.database)


def display_name(url: URL) -> str:
    """Return how a knowledge base is named to its user: a file's path, or the URL without passwords."""
    path = sqlite_path(url)
    if path is not None:
        return str(path)
    if url.get_backend_name() == "sqlite":
        return "the knowledge base in memory"
    # In the query a password goes by many names, such as sslpassword and passfile.
    return url.difference_update_query([name for name in url.query if "pass" in name.lower()]).render_as_string()


def make_engine(url: URL) -> Engine:
    """Return the engine for a URL; nothing is opened yet."""
    try:
        if url.get_backend_name() != "sqlite":
            return create_engine(url, pool_pre_ping=True)
        if sqlite_path(url) is None:
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
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # sqlite3 would begin transactions on its own, late and without the write lock: we begin them ourselves.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA cache_size=-65536")
    connection.execute(f"PRAGMA mmap_size={MAPPED_BYTES}")
    connection.execute("PRAGMA temp_store=MEMORY")
    # A run is acknowledged only when it is on the disk.
    connection.execute("PRAGMA synchronous=FULL")


def _begin_sqlite(connection: Connection) -> None:
    is_writer = connection.get_execution_options().get("metaml_writer", False)
    if is_writer and not connection.info.get(HAS_LOG):
        # With a write-ahead log, readers and a writer do not wait for one another. It changes the file.
        connection.exec_driver_sql("PRAGMA journal_mode=WAL").close()
        connection.info[HAS_LOG] = True
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Give a connection that sees one consistent state, and end its transaction."""
    with explained(engine.url), engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            # Otherwise each statement there sees what was stored before it, not before the first.
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Give the one writing connection: all of the block is stored, or nothing."""
    with explained(engine.url), engine.connect() as plain:
        connection = plain.execution_options(metaml_writer=True)
        with connection.begin():
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SELECT set_config('lock_timeout', %s, true)", (f"{BUSY_SECONDS}s",))
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (WRITER_LOCK,))
            yield connection


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turn what a database driver raises into our errors."""
    try:
        yield
    except DBAPIError as trouble:
        raise explain(url, trouble.orig or trouble) from trouble
    except (sqlite3.Error, UnicodeDecodeError) as trouble:
        raise explain(url, trouble) from trouble


def explain(url: URL, trouble: BaseException) -> KBError:
    """Return our error for what a driver raised."""
    name, said = display_name(url), str(trouble).strip().split("\n")[0]
    told = said.lower()
    # The index of the write-ahead log is a file that SQLite makes large at once; its error then does not say full.
    has_no_room = getattr(trouble, "sqlite_errorname", "") == "SQLITE_IOERR_SHMSIZE"
    if has_no_room or "disk is full" in told or "no space left" in told or "disk full" in told:
        return StorageFull(f"{name} cannot grow: the disk is full. Nothing was changed; free some space and repeat.")
    if "readonly" in told or "read-only" in told:
        return CannotOpen(f"{name} is read-only. Make it writable, or copy it and use the copy with --kb.")
    # SQLite quotes what it cannot read of a damaged file, which may be no text.
    if isinstance(trouble, UnicodeDecodeError) or "not a database" in told or "malformed" in told:
        return CannotOpen(f"{name} is not a metaml knowledge base, or it is damaged. Try: metaml kb doctor --kb {name}")
    if "locked" in told or "lock timeout" in told:
        return CannotOpen(
            f"{name} was locked by another program for {BUSY_SECONDS} seconds. Close that program and repeat."
        )
    if "unable to open" in told:
        return CannotOpen(f"{name} cannot be opened. Check that its folder exists and that you may write there.")
    if "disk i/o" in told:
        return CannotOpen(f"{name} cannot be read or written (disk I/O error). Check the disk, then: metaml kb doctor")
    if any(word in told for word in ("connect", "authentication", "resolve host")):
        return CannotOpen(f"{name} cannot be reached ({said}). Check the address and that the server runs.")
    return KBError(f"{name} refused the operation ({said}). Check it with: metaml kb doctor --kb {name}")
