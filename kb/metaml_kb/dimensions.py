"""The small tables that many runs share, and how rows get their numbers.

Python assigns the row numbers while it holds the writer's lock. So a chunk of runs needs a fixed number of statements,
however large it is and on every database.
"""

import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Table, bindparam, func, literal, select, union_all, update
from sqlalchemy.exc import DBAPIError

from metaml_kb import tables
from metaml_kb.errors import BadRecord
from metaml_kb.records import TASKS, DatasetRecord, plain

UNKNOWN = "unknown"
"""The task of a data set, or the strategy of a fold plan, if nobody said which."""
SHARED = {
    "dataset": tables.dataset.c.fingerprint,
    "environment": tables.environment.c.key,
    "session": tables.session.c.key,
    "algorithm": tables.algorithm.c.name,
    "fold_plan": tables.fold_plan.c.key,
    "metric_set": tables.metric_set.c.names,
}
"""The tables whose rows many runs share, each with the column of its names."""
_SHARED_NUMBERS = union_all(
    *(
        select(literal(table).label("table"), column, column.table.c.id).where(
            column.in_(bindparam(table, expanding=True))
        )
        for table, column in SHARED.items()
    )
)
Numbers = Mapping[str, int]
Rows = list[tuple[Any, ...]]


def insert_rows(connection: Connection, table: Table, names: Sequence[str], rows: Rows) -> None:
    """Insert tuples in one statement. This is faster than an SQLAlchemy expression per row."""
    if not rows:
        return
    preparer = connection.dialect.identifier_preparer
    columns = ", ".join(preparer.quote(name) for name in names)
    target = f"{preparer.format_table(table)} ({columns})"
    if connection.dialect.name == "postgresql" and len(rows) > 1:
        _copy_rows(connection, target, rows)
        return
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    marks = ", ".join([mark] * len(names))
    # Safe: table and column names are our own, and every value is a bound parameter.
    connection.exec_driver_sql(f"INSERT INTO {target} VALUES ({marks})", rows)  # noqa: S608


def _copy_rows(connection: Connection, target: str, rows: Rows) -> None:
    """Insert tuples as one stream, for which PostgreSQL needs half the time of a statement per row."""
    statement = f"COPY {target} FROM STDIN"
    driver = connection.dialect.loaded_dbapi
    cursor: Any = connection.connection.cursor()
    try:
        with cursor, cursor.copy(statement) as stream:
            for row in rows:
                stream.write_row(row)
    except driver.Error as error:
        raise DBAPIError.instance(statement, None, error, driver.Error) from error


def next_id(connection: Connection, table: Table) -> int:
    """Return the first free row number. This is safe because there is only one writer at a time."""
    return int(connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()) + 1


def touch(connection: Connection) -> None:
    """Increase the revision, so that caches can see that they are out of date."""
    table = tables.knowledge_base
    connection.execute(update(table).values(revision=table.c.revision + 1))


def number_names(connection: Connection, table: Table, column: str, names: Iterable[str]) -> dict[str, int]:
    """Return the row number of each of these names that a small table has."""
    key = table.c[column]
    query = select(key, table.c.id).where(key.in_(bindparam("names", expanding=True)))
    return {name: number for name, number in connection.execute(query, {"names": sorted(set(names))})}


def number_shared(connection: Connection, wanted: Mapping[str, Iterable[str | None]]) -> Mapping[str, Numbers]:
    """Return, for each table in SHARED, the row numbers of those of its names that it has; in one statement."""
    names = {table: sorted({name for name in wanted[table] if name is not None}) for table in SHARED}
    numbers: dict[str, dict[str, int]] = {table: {} for table in SHARED}
    for table, name, number in connection.execute(_SHARED_NUMBERS, names):
        numbers[table][name] = number
    return numbers


def with_new(connection: Connection, table: Table, column: str, names: Iterable[str], known: Numbers) -> Numbers:
    """Return the row number of each name, adding those that are not `known`. For tables with no other column."""
    missing = sorted(set(names) - known.keys())
    if not missing:
        return known
    first = next_id(connection, table)
    fresh = {name: first + offset for offset, name in enumerate(missing)}
    insert_rows(connection, table, ("id", column), [(number, name) for name, number in fresh.items()])
    return {**known, **fresh}


def required(table: Table, keys: Iterable[str | None], known: Numbers, advice: str) -> dict[str | None, int | None]:
    """Return the row number of each key, None for None; raise `BadRecord` with `advice` if one is not `known`."""
    numbers: dict[str | None, int | None] = {None: None}
    for key in keys:
        if key is not None and key not in known:
            raise BadRecord(f"A run names the {table.name} {key!r}, which is not in the knowledge base. {advice}")
        numbers[key] = None if key is None else known[key]
    return numbers


def with_new_plans(connection: Connection, keys: Iterable[str], known: Numbers) -> Numbers:
    """Return the row number of each fold plan; one that is not `known` is added with the strategy `unknown`."""
    table, numbers = tables.fold_plan, dict(known)
    for key in sorted(set(keys) - known.keys()):
        numbers[key] = next_id(connection, table)
        connection.execute(table.insert(), {"id": numbers[key], "key": key, "strategy": UNKNOWN})
    return numbers


def to_json(details: Mapping[str, Any]) -> str:
    """Return settings or details as JSON text; values that JSON does not know become their text."""
    return json.dumps(dict(details), sort_keys=True, default=_plain_or_text)


def _plain_or_text(value: object) -> object:
    return plain(value) if isinstance(value, np.generic) else str(value)


def plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with Python values instead of NumPy scalars."""
    return {name: plain(value) for name, value in row.items()}


def add_keyed(connection: Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Store a session, environment or fold plan unless its key is known."""
    if not number_names(connection, table, "key", [row["key"]]):
        connection.execute(table.insert(), plain_row({**row, "id": next_id(connection, table)}))


def add_to_settings(connection: Connection, session: str, more: Mapping[str, Any]) -> None:
    """Add entries to the settings of a session (key), if it is stored."""
    table = tables.session
    text = connection.execute(select(table.c.settings).where(table.c.key == session)).scalar()
    if text is not None:
        settings = to_json({**json.loads(text), **more})
        connection.execute(update(table).where(table.c.key == session).values(settings=settings))


def add_dataset(connection: Connection, record: DatasetRecord) -> bool:
    """Store a data set unless its fingerprint is known; return whether it was new.

    A known data set stays as it is. Only its task is filled in, if it was unknown.
    """
    table = tables.dataset
    task = connection.execute(select(table.c.task).where(table.c.fingerprint == record.fingerprint)).scalar()
    if task is not None:
        if task not in TASKS and record.task in TASKS:
            connection.execute(update(table).where(table.c.fingerprint == record.fingerprint).values(task=record.task))
            touch(connection)
        return False
    row = {
        "id": next_id(connection, table),
        "fingerprint": record.fingerprint,
        "name": record.name,
        "task": record.task,
        "target": record.target,
        "n_rows": record.n_rows,
        "n_columns": record.n_columns,
        "n_classes": record.n_classes,
        "source": record.source,
        "details": to_json(record.details),
        "added_at": time.time(),
    }
    connection.execute(table.insert(), plain_row(row))
    touch(connection)
    return True


def add_metafeatures(
    connection: Connection,
    fingerprint: str,
    values: Mapping[str, float],
    *,
    source: str,
    reasons: Mapping[str, str] | None = None,
    seconds: Mapping[str, float] | None = None,
    n_rows: Mapping[str, int] | None = None,
) -> None:
    """Store a data set's metafeatures. A known value stays, unless it was undefined."""
    numbers = number_names(connection, tables.dataset, "fingerprint", [fingerprint])
    if fingerprint not in numbers:
        raise BadRecord(f"The data set {fingerprint!r} is not in the knowledge base. Store it first with add_dataset.")
    number, table = numbers[fingerprint], tables.metafeature
    ours = (table.c.dataset_id == number) & (table.c.source == source)
    known = {name: value for name, value in connection.execute(select(table.c.name, table.c.value).where(ours))}
    fresh = [name for name in values if name not in known or (known[name] is None and not _is_undefined(values[name]))]
    reasons = reasons or {}
    rows: Rows = [
        (number, name, source, None, reasons.get(name))
        if _is_undefined(values[name])
        else (number, name, source, float(values[name]), None)
        for name in fresh
    ]
    replaced = [name for name in fresh if name in known]
    if replaced:
        connection.execute(table.delete().where(ours, table.c.name.in_(replaced)))
    insert_rows(connection, table, ("dataset_id", "name", "source", "value", "reason"), rows)
    groups = tables.metafeature_group
    costs: Rows = [
        (number, name, source, plain(cost), plain((n_rows or {}).get(name))) for name, cost in (seconds or {}).items()
    ]
    if costs:
        mine = (groups.c.dataset_id == number) & (groups.c.source == source)
        connection.execute(groups.delete().where(mine, groups.c.name.in_(list(seconds or {}))))
        insert_rows(connection, groups, ("dataset_id", "name", "source", "seconds", "n_rows"), costs)
    if rows or costs:
        touch(connection)


def _is_undefined(value: float | None) -> bool:
    return value is None or math.isnan(value)
