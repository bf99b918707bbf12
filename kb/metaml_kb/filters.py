"""Which runs are asked for: filters by name, as conditions of a query."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from metaml_kb import tables
from metaml_kb.errors import BadQuery
from metaml_kb.spelling import no_such

Names = str | Iterable[str] | None


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are asked for; None asks for all."""

    dataset: Names = None
    algorithm: Names = None
    status: Names = None
    origin: Names = None
    session: Names = None
    since: datetime | float | str | None = None
    limit: int | None = None
    identities: Sequence[str] | None = None


def seconds_since_epoch(moment: datetime | float | str) -> float:
    """Return a moment as seconds since 1970; text is ISO 8601, without a zone it is UTC."""
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise BadQuery(f"{moment!r} is not a date. Write it as 2026-11-16 or 2026-11-16T09:30.") from None
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(moment)


def _listed(names: Names) -> list[str] | None:
    if names is None:
        return None
    return [names] if isinstance(names, str) else list(names)


def _dataset_numbers(connection: Connection, wanted: list[str]) -> list[int]:
    """Return the row numbers of data sets by name or fingerprint; a name may be that of several."""
    table = tables.dataset
    found = connection.execute(
        select(table.c.id, table.c.name, table.c.fingerprint).where(
            table.c.name.in_(wanted) | table.c.fingerprint.in_(wanted)
        )
    ).fetchall()
    for name in wanted:
        if not any(name in row[1:] for row in found):
            known = connection.execute(select(table.c.name)).scalars()
            raise BadQuery(no_such("data set", name, known, see="metaml kb datasets"))
    return sorted(row[0] for row in found)


def _numbers(connection: Connection, table: Any, columns: Sequence[str], names: list[str]) -> list[int]:
    """Return the row numbers of the rows in which one of the columns has one of the names."""
    found: list[int] = []
    for column in columns:
        found += connection.execute(select(table.c.id).where(table.c[column].in_(names))).scalars()
    return sorted(set(found))


def condition_for(connection: Connection, wanted: RunFilter) -> list[ColumnElement[bool]]:
    """Return what must hold of the runs asked for."""
    run = tables.run
    condition: list[ColumnElement[bool]] = []
    if (datasets := _listed(wanted.dataset)) is not None:
        condition.append(run.c.dataset_id.in_(_dataset_numbers(connection, datasets)))
    if (algorithms := _listed(wanted.algorithm)) is not None:
        condition.append(run.c.algorithm_id.in_(_numbers(connection, tables.algorithm, ("name",), algorithms)))
    if (sessions := _listed(wanted.session)) is not None:
        condition.append(run.c.session_id.in_(_numbers(connection, tables.session, ("key", "kind"), sessions)))
    for column, names in ((run.c.status, wanted.status), (run.c.origin, wanted.origin)):
        if (words := _listed(names)) is not None:
            condition.append(column.in_(words))
    if wanted.identities is not None:
        condition.append(run.c.identity.in_([bytes.fromhex(text) for text in wanted.identities]))
    if wanted.since is not None:
        condition.append(run.c.finished_at >= seconds_since_epoch(wanted.since))
    return condition
