"""Filters for runs, by name, as conditions of a query."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, select

from metaml_kb import tables
from metaml_kb.errors import BadQuery
from metaml_kb.provenance import STARTER, from_starter
from metaml_kb.records import ORIGINS, STATUSES
from metaml_kb.spelling import MOST_NAMED, no_such

Names = str | Iterable[str] | None
LARGEST_LIMIT = 2**63 - 1
SESSION_KINDS = ("bot", "tune", "import", STARTER)
SOURCES = ("mine", STARTER)
"""Where a run is from: made or imported here, or part of the starter."""
AGE_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to select; None selects all. `KnowledgeBase.runs` explains each field."""

    dataset: Names = None
    algorithm: Names = None
    status: Names = None
    origin: Names = None
    session: Names = None
    since: datetime | float | str | None = None
    limit: int | None = None
    source: str | None = None
    user: str | None = None
    project: str | None = None
    identities: Sequence[str] | None = None


def seconds_since_epoch(moment: datetime | float | str) -> float:
    """Return a moment as seconds since 1970. Text is an age such as 2h or 7d, or ISO 8601, UTC without a time zone.

    >>> seconds_since_epoch("1970-01-02")
    86400.0
    """
    if isinstance(moment, str):
        age = re.fullmatch(r"(\d+)([mhdw])", moment.strip())
        try:
            if age is not None:
                moment = datetime.now(UTC) - timedelta(**{AGE_UNITS[age[2]]: int(age[1])})
            else:
                moment = datetime.fromisoformat(moment)
        except OverflowError:
            raise BadQuery(f"{moment} ago was before the calendar begins. Leave it out to see all runs.") from None
        except ValueError:
            hint = "Write a date as 2026-11-16 or 2026-11-16T09:30, or an age as 2h, 7d or 4w."
            raise BadQuery(f"{moment!r} is not a date. {hint}") from None
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(moment)


def _listed(names: Names) -> list[str] | None:
    if names is None:
        return None
    return [names] if isinstance(names, str) else list(names)


def _dataset_numbers(connection: Connection, wanted: list[str]) -> list[int]:
    """Return the row numbers of data sets by name or fingerprint; several data sets may share a name."""
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


def _algorithm_numbers(connection: Connection, wanted: list[str]) -> list[int]:
    table = tables.algorithm
    known = {name: number for name, number in connection.execute(select(table.c.name, table.c.id))}
    return [known[name] for name in _checked("algorithm", wanted, known)]


def session_numbers(connection: Connection, wanted: list[str]) -> list[int]:
    """Return the row numbers of sessions by kind, by key, or by the unique beginning of a key."""
    table = tables.session
    known = connection.execute(select(table.c.id, table.c.key, table.c.kind).order_by(table.c.id)).fetchall()
    kinds = {*SESSION_KINDS, *(kind for _, _, kind in known)}
    numbers: list[int] = []
    for word in wanted:
        if word in kinds:
            numbers += [number for number, _, kind in known if kind == word]
            continue
        exact = [(number, key) for number, key, _ in known if key == word]
        found = exact or [(number, key) for number, key, _ in known if key.startswith(word.strip().lower())]
        if not found:
            raise BadQuery(f"{no_such('session', word, kinds)} Give one of these, or the beginning of a session's key.")
        if len(found) > 1:
            keys = ", ".join(key[: len(word) + 8] for _, key in found[:MOST_NAMED])
            raise BadQuery(f"{len(found)} sessions have a key that begins with {word}: {keys}. Give more of it.")
        numbers += [number for number, _ in found]
    return sorted(set(numbers))


def _labelled_sessions(connection: Connection, label: str, word: str) -> list[int]:
    """Return the row numbers of the sessions with this user or project (`label`), as they were started with it."""
    table = tables.session
    rows = connection.execute(select(table.c.id, table.c.settings))
    known = {number: str(json.loads(settings).get(label) or "") for number, settings in rows}
    if word not in known.values():
        raise BadQuery(no_such(label, word, sorted(set(filter(None, known.values()))), see="metaml kb sessions"))
    return [number for number, found in known.items() if found == word]


def _checked(what: str, wanted: list[str], known: Iterable[str]) -> list[str]:
    """Return the wanted names if all are known. Raise for a misspelt one, which would look like an empty result."""
    for name in wanted:
        if name not in known:
            raise BadQuery(no_such(what, name, known))
    return wanted


def condition_for(connection: Connection, wanted: RunFilter) -> list[ColumnElement[bool]]:
    """Return the SQL conditions that select the runs."""
    if wanted.limit is not None and wanted.limit > LARGEST_LIMIT:
        raise BadQuery(
            f"A limit of {wanted.limit} is more than a database can count. Leave --limit out to see all runs."
        )
    run = tables.run
    condition: list[ColumnElement[bool]] = []
    if (datasets := _listed(wanted.dataset)) is not None:
        condition.append(run.c.dataset_id.in_(_dataset_numbers(connection, datasets)))
    if (algorithms := _listed(wanted.algorithm)) is not None:
        condition.append(run.c.algorithm_id.in_(_algorithm_numbers(connection, algorithms)))
    if (sessions := _listed(wanted.session)) is not None:
        condition.append(run.c.session_id.in_(session_numbers(connection, sessions)))
    if (statuses := _listed(wanted.status)) is not None:
        condition.append(run.c.status.in_(_checked("status", statuses, STATUSES)))
    if (origins := _listed(wanted.origin)) is not None:
        condition.append(run.c.origin.in_(_checked("origin", origins, ORIGINS)))
    for label, word in (("user", wanted.user), ("project", wanted.project)):
        if word is not None:
            condition.append(run.c.session_id.in_(_labelled_sessions(connection, label, word)))
    if wanted.source is not None:
        (source,) = _checked("source", [wanted.source], SOURCES)
        condition.append(from_starter() if source == STARTER else ~from_starter())
    if wanted.identities is not None:
        condition.append(run.c.identity.in_([bytes.fromhex(text) for text in wanted.identities]))
    if wanted.since is not None:
        condition.append(run.c.finished_at >= seconds_since_epoch(wanted.since))
    return condition
