"""SQL from the user: one statement, which the database refuses to let write, and which cannot run for ever."""

import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pandas as pd
from sqlalchemy import Connection, CursorResult, Engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from metaml_kb.engine import explained, kb_error_for
from metaml_kb.errors import BadQuery, KBError

_OPENING = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(select|with|values|explain)\b", re.IGNORECASE | re.DOTALL)
# What SQLite's authorizer allows: reading. Anything else (ATTACH, PRAGMA, writes) is denied.
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_UNSAFE_FUNCTIONS = {"load_extension", "writefile", "readfile", "fts3_tokenizer"}
TIMEOUT_SECONDS = 60.0
MOST_MEGABYTES = 1000.0
# SQLite asks after so many of its own instructions, about a millisecond, whether it should go on.
_INSTRUCTIONS = 20_000
_MEMORY_SECONDS = 0.02
_CHUNK = 1000
_FEW = 16


class _Limits:
    """How long a query may take and by how much it may grow this process, counted from now; None is no limit."""

    def __init__(self, seconds: float | None, megabytes: float | None) -> None:
        import psutil

        self.seconds, self.megabytes = seconds, megabytes
        self._memory_of = psutil.Process().memory_info
        self._start, self._asked = time.monotonic(), 0.0
        self._before: int = self._memory_of().rss
        self._grown: int = self._before

    @property
    def is_late(self) -> bool:
        """Return whether the time is used up."""
        return self.seconds is not None and time.monotonic() - self._start > self.seconds

    @property
    def is_large(self) -> bool:
        """Return whether the memory is used up. Asking the system is slow, so it is asked only now and then."""
        if self.megabytes is None:
            return False
        if time.monotonic() - self._asked > _MEMORY_SECONDS:
            self._grown, self._asked = self._memory_of().rss, time.monotonic()
        return self._grown - self._before > self.megabytes * 1e6

    def is_over(self) -> bool:
        """Return whether the query must be stopped. Python also handles Ctrl-C whenever SQLite calls this."""
        return self.is_late or self.is_large

    def check(self) -> None:
        """Raise `BadQuery` if the query must be stopped."""
        if self.is_large:
            raise BadQuery(
                f"The query took more than {self.megabytes:,g} megabytes of memory and was stopped. "
                "Select fewer rows or columns, or allow more with: metaml kb sql --limit-memory"
            )
        if self.is_late:
            raise BadQuery(
                f"The query took more than {self.seconds:,g} seconds and was stopped. "
                "Ask for less, or allow more time with: metaml kb sql --timeout"
            )


def _authorize(action: int, _first: str | None, second: str | None, _db: str | None, _trigger: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _UNSAFE_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _allow_all(*_: object) -> int:
    # Removing an authorizer with None works from Python 3.11 on, but not on every build of it.
    return sqlite3.SQLITE_OK


@contextmanager
def _guarded(connection: Connection, limits: _Limits) -> Iterator[None]:
    """Make the database refuse every write, and stop at the limits, until the block ends."""
    raw: Any = connection.connection.dbapi_connection
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        milliseconds = 0 if limits.seconds is None else max(1, round(limits.seconds * 1000))
        connection.exec_driver_sql("SELECT set_config('statement_timeout', %s, true)", (str(milliseconds),))
        # A prepared statement is a single statement, so no second one can end the transaction and then write.
        threshold, raw.prepare_threshold = raw.prepare_threshold, 0
        try:
            yield
        finally:
            raw.prepare_threshold = threshold
        return
    if connection.dialect.name != "sqlite":
        raise BadQuery(f"SQL queries work on SQLite and PostgreSQL, not on {connection.dialect.name}. Use runs().")
    raw.set_authorizer(_authorize)
    raw.set_progress_handler(limits.is_over, _INSTRUCTIONS)
    # One instruction can make a value of a gigabyte, and SQLite asks nobody meanwhile.
    longest = raw.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
    if limits.megabytes is not None:
        raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(longest, round(limits.megabytes * 1e6)))
    try:
        yield
    finally:
        raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        raw.set_progress_handler(None, 0)
        raw.set_authorizer(_allow_all)


def read_sql(
    engine: Engine,
    query: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    timeout: float | None = TIMEOUT_SECONDS,
    limit_memory: float | None = MOST_MEGABYTES,
    most_rows: int | None = None,
) -> pd.DataFrame:
    """Return the result of one SELECT. `KnowledgeBase.sql` explains the arguments; `most_rows` are read at most."""
    opening = _OPENING.match(query)
    if opening is None:
        raise BadQuery(f"Only reading is possible here, but the query starts with {query.strip()[:20]!r}. Use SELECT.")
    limits = _Limits(timeout, limit_memory)
    with explained(engine.url), engine.connect() as connection:
        transaction = connection.begin()
        try:
            with _guarded(connection, limits):
                # Without a cursor on the server, PostgreSQL's driver takes all rows at once. An explanation has few.
                streamed = {"stream_results": opening[1].lower() != "explain", "max_row_buffer": _CHUNK}
                if most_rows is not None:
                    streamed["max_row_buffer"] = _FEW
                statement = _statement(query, parameters)
                with connection.execute(statement, dict(parameters or {}), execution_options=streamed) as result:
                    columns, rows = _fetched(result, limits, most_rows)
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise _blame(engine, error, limits) from None
        finally:
            transaction.rollback()
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return frame.apply(_typed) if len(frame) else frame


def _fetched(
    result: CursorResult[Any], limits: _Limits, most_rows: int | None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns and the rows of a result, as metaml shows them; not more than `most_rows`."""
    if not result.returns_rows:
        raise BadQuery("The query returned no table. Use a single SELECT.")
    columns = _unique(list(result.keys()))
    rows: list[tuple[Any, ...]] = []
    for part in result.partitions(_CHUNK if most_rows is None else _FEW):
        rows += [tuple(map(_shown, row)) for row in part]
        limits.check()
        if most_rows is not None and len(rows) >= most_rows:
            return columns, rows[:most_rows]
    return columns, rows


def _typed(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column with the type of its values. Integers beside a NULL stay exact integers."""
    kinds = set(map(type, column))
    return column.astype("Int64") if kinds == {int, type(None)} else column.infer_objects()


def _statement(query: str, parameters: Mapping[str, Any] | None) -> Any:
    """Return the statement. Without parameters, a colon in it has no special meaning."""
    body = query.strip().rstrip(";")
    if not parameters:
        body = re.sub(r":(?=\w)", r"\:", body)
    return text(body)


def _unique(names: list[str]) -> list[str]:
    """Return unique column names: a second `name` becomes `name_2`."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


def _shown(value: Any) -> Any:
    """Return a value as metaml shows it: identities as hexadecimal text, decimals as Python numbers."""
    if isinstance(value, bytes | memoryview) and len(value) == 16:
        return bytes(value).hex()
    if isinstance(value, Decimal):
        # PostgreSQL's sum and avg return decimals.
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    return value


def _blame(engine: Engine, error: Exception, limits: _Limits) -> KBError:
    """Return the error to raise: the query is wrong, would write or was stopped, or the database has a problem."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if _code(cause) in ("SQLITE_INTERRUPT", "57014"):
        limits.check()
    if _code(cause) == "SQLITE_INTERRUPT":
        # SQLite also stops if `is_over` raises, and drops that exception: it was the user's Ctrl-C.
        raise KeyboardInterrupt
    message = str(cause).strip().split("\n")[0].rstrip(".")
    lowered = message.lower()
    wrong = BadQuery(f"The query cannot be run: {message}. Tables and columns are listed by: metaml kb info --schema")
    if _is_wrong(cause, lowered):
        return wrong
    if (
        "not authorized" in lowered
        or "read-only transaction" in lowered
        or "readonly" in lowered
        or "prohibited" in lowered
    ):
        return BadQuery("The query would change the knowledge base, and kb sql only reads. Use a SELECT.")
    if "one statement" in lowered or "multiple commands" in lowered or "cannot insert multiple" in lowered:
        return BadQuery("Give one statement at a time, without a second one after the semicolon.")
    if any(word in lowered for word in ("locked", "disk", "malformed", "not a database", "connection")):
        return kb_error_for(engine.url, cause)
    return wrong


def _is_wrong(cause: BaseException, lowered: str) -> bool:
    """Return whether the database rejects the query as wrong. Ask its error codes: the message may quote the query."""
    is_refused = lowered.startswith(("not authorized", "cannot insert multiple"))
    # PostgreSQL's classes of errors: 22 is about values, 42 about syntax, names and types.
    return not is_refused and (_code(cause) == "SQLITE_ERROR" or _code(cause)[:2] in ("22", "42"))


def _code(cause: BaseException) -> str:
    """Return the error code of SQLite or PostgreSQL; empty if there is none."""
    return str(getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or "")
