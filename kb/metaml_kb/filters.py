"""Which runs are asked for: filters by name, as conditions of a query."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from metaml_kb import tables
from metaml_kb.errors import BadQuery

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
        numbers = _numbers(connection, tables.dataset, ("name", "fingerprint"), datasets)
        if not numbers:
            raise BadQuery(_no_such_dataset(connection, datasets))
        condition.append(run.c.dataset_id.in_(numbers))
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


def _no_such_dataset(connection: Connection, names: list[str]) -> str:
    known = connection.execute(select(tables.dataset.c.name).order_by(tables.dataset.c.name).limit(8)).scalars()
    listed = ", ".join(known) or "none yet"
    return (
        f"There is no data set {', '.join(names)} in the knowledge base. Known are: {listed}. See: metaml kb datasets"
    )
