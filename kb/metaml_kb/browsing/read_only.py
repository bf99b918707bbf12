"""A knowledge base that cannot be changed, and whose statements end after a few seconds."""

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from metaml_kb import schema
from metaml_kb.engine import locate, make_engine
from metaml_kb.sql import KnowledgeBase

STATEMENT_SECONDS = 5.0
# SQLite asks after so many of its own instructions, about a millisecond, whether it should go on.
_INSTRUCTIONS = 20_000


def open_read_only(path_or_url: str | Path | None = None, *, seconds: float = STATEMENT_SECONDS) -> KnowledgeBase:
    """Open a knowledge base such that the database itself refuses to write, and ends a statement after `seconds`.

    A statement that takes longer raises `TooSlow`. Raises `CannotOpen` and `SchemaMismatch` as `open_kb` does; a
    missing knowledge base is not created.

    >>> open_read_only("missing.db")
    Traceback (most recent call last):
    metaml_kb.errors.CannotOpen: There is no knowledge base at missing.db. Make one with: metaml kb init --kb missing.db
    """
    url = locate(path_or_url)
    schema.check_file(url, create=False)
    engine = make_engine(url)
    restrict(engine, seconds)
    try:
        schema.prepare(engine, create_missing=False)
    except BaseException:
        engine.dispose()
        raise
    return KnowledgeBase(engine)


def restrict(engine: Engine, seconds: float) -> None:
    """Let each new connection of an engine only read, and only so long for each statement."""
    if engine.dialect.name == "sqlite":
        clock = _Clock(seconds)
        event.listen(engine, "connect", clock.forbid_writing)
        # `KnowledgeBase.sql` sets a handler of its own and removes it, so it is set again for each transaction.
        event.listen(engine, "checkout", clock.watch)
        event.listen(engine, "before_cursor_execute", clock.restart)
    elif engine.dialect.name == "postgresql":
        event.listen(engine, "connect", lambda connection, _: _restrict_postgresql(connection, seconds))


class _Clock:
    """Ends the statements of SQLite connections: each has so many seconds from when it began."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._begun: dict[int, float] = {}

    def forbid_writing(self, connection: sqlite3.Connection, _record: Any) -> None:
        """Let a new connection only read."""
        connection.execute("PRAGMA query_only=ON")

    def watch(self, connection: sqlite3.Connection, *_: Any) -> None:
        """Let a connection ask this clock."""
        number = id(connection)
        self._begun[number] = time.monotonic()
        connection.set_progress_handler(lambda: self._is_late(number), _INSTRUCTIONS)

    def restart(self, connection: Any, *_: object) -> None:
        """Note that a statement begins."""
        self._begun[id(connection.connection.dbapi_connection)] = time.monotonic()

    def _is_late(self, number: int) -> bool:
        return time.monotonic() - self._begun[number] > self.seconds


def _restrict_postgresql(connection: Any, seconds: float) -> None:
    was_automatic, connection.autocommit = connection.autocommit, True
    connection.execute("SET default_transaction_read_only = on")
    connection.execute(f"SET statement_timeout = {max(1, round(seconds * 1000))}")
    connection.autocommit = was_automatic
