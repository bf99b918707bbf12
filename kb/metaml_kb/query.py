"""SQL from the user: one statement, and the database itself refuses to write."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from metaml_kb.engine import explain, explained
from metaml_kb.errors import BadQuery, KBError

_OPENING = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(select|with|values|explain)\b", re.IGNORECASE | re.DOTALL)
# What SQLite's authorizer allows: reading. Anything else (ATTACH, PRAGMA, writes) is denied.
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_UNSAFE_FUNCTIONS = {"load_extension", "writefile", "readfile", "fts3_tokenizer"}


def _authorize(action: int, _first: str | None, second: str | None, _db: str | None, _trigger: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _UNSAFE_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _allow_all(*_: object) -> int:
    # Removing an authorizer with None works from Python 3.11 on, but not on every build of it.
    return sqlite3.SQLITE_OK


@contextmanager
def _read_only(connection: Connection) -> Iterator[None]:
    """Make the database refuse every write until the block ends."""
    raw: Any = connection.connection.dbapi_connection
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")
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
    try:
        yield
    finally:
        raw.set_authorizer(_allow_all)


def read_sql(engine: Engine, query: str, parameters: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """Return the result of one SELECT; `:name` in it is replaced by the value in `parameters`."""
    if not _OPENING.match(query):
        raise BadQuery(f"Only reading is possible here, but the query starts with {query.strip()[:20]!r}. Use SELECT.")
    with explained(engine.url), engine.connect() as connection:
        transaction = connection.begin()
        try:
            with _read_only(connection):
                result = connection.execute(_statement(query, parameters), dict(parameters or {}))
                if not result.returns_rows:
                    raise BadQuery("The query returned no table. Use a single SELECT.")
                columns = _unique(list(result.keys()))
                rows = result.fetchall()
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise _blame(engine, error) from None
        finally:
            transaction.rollback()
    frame = pd.DataFrame([tuple(map(_shown, row)) for row in rows], columns=columns, dtype=object)
    return frame.apply(_typed) if len(frame) else frame


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


def _blame(engine: Engine, error: Exception) -> KBError:
    """Return the error to raise: the query is wrong, it would write, or the database has a problem."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
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
        return explain(engine.url, cause)
    return wrong


def _is_wrong(cause: BaseException, lowered: str) -> bool:
    """Return whether the database rejects the query as wrong. Ask its error codes: the message may quote the query."""
    is_refused = lowered.startswith(("not authorized", "cannot insert multiple"))
    is_error = getattr(cause, "sqlite_errorname", None) == "SQLITE_ERROR"
    # PostgreSQL's classes of errors: 22 is about values, 42 about syntax, names and types.
    return not is_refused and (is_error or (getattr(cause, "sqlstate", None) or "")[:2] in ("22", "42"))
