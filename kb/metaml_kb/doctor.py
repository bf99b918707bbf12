"""Check a knowledge base for damage and contradictions. Nothing is changed unless `fix` is set."""

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from textwrap import shorten

import pandas as pd
from sqlalchemy import ColumnElement, Connection, Table, exists, func, inspect, or_, select
from sqlalchemy.exc import DatabaseError

from metaml_kb import tables
from metaml_kb.engine import locate, reading, sqlite_path, writing
from metaml_kb.errors import CannotOpen
from metaml_kb.provenance import from_starter
from metaml_kb.records import run_identity, split_config
from metaml_kb.sql import KnowledgeBase, open_kb
from metaml_kb.transfer import runs_in

DAY = 86_400.0
ROUNDING = 1e-9
INTEGRITY = "PRAGMA integrity_check(5)"
LONGEST_REPORT, LONGEST_SAMPLE = 200, 40
TRIGGERS = {
    "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger' ORDER BY name",
    "postgresql": "SELECT DISTINCT trigger_name, event_object_table FROM information_schema.triggers "
    "WHERE trigger_schema = current_schema() ORDER BY trigger_name",
}
"""The query for the triggers and their tables, by kind of database."""
COMPARED_METAFEATURES = (
    "NumberOfInstances",
    "NumberOfFeatures",
    "NumberOfClasses",
    "NumberOfMissingValues",
    "MajorityClassSize",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found. `fix` says what --fix would do; it is empty if only a person can decide."""

    check: str
    text: str
    is_error: bool = False
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Expectations:
    """What only the caller knows about the content of runs. By default nothing, and then nothing of it is checked.

    `highest_scores` is the highest possible score by metric; `libraries` are those whose release changes what an
    algorithm does.
    """

    highest_scores: Mapping[str, float] = field(default_factory=dict)
    libraries: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """Two data sets that are probably the same, and why; `are_starters` if both came with the starter."""

    first: str
    second: str
    why: str
    are_starters: bool


@dataclass(frozen=True, slots=True)
class CheckUp:
    """All findings. `n_left_out` counts pairs of near-duplicates in the starter, which no user can fix."""

    findings: list[Finding]
    n_left_out: int = 0


NOTHING_EXPECTED = Expectations()


def check_up(place: str | Path | None, *, fix: bool = False, expectations: Expectations = NOTHING_EXPECTED) -> CheckUp:
    """Return what is wrong with the knowledge base at a path or URL, even if it is too damaged to open.

    With `fix`, first remove rows that no run refers to. `expectations` add the checks that need to know metrics and
    libraries. Raises `CannotOpen` if it cannot be opened for another reason.
    """
    try:
        with open_kb(place, create=False) as kb:
            findings = examine(kb, fix=fix, expectations=expectations)
            is_sound = all(finding.check != "integrity" for finding in findings)
            return CheckUp(findings, sum(pair.are_starters for pair in probable_duplicates(kb)) if is_sound else 0)
    except CannotOpen:
        path = sqlite_path(locate(place))
        damage = _damage_of(path) if path is not None and path.is_file() else None
        if damage is None:
            raise
        return CheckUp([damage])


def examine(kb: KnowledgeBase, *, fix: bool = False, expectations: Expectations = NOTHING_EXPECTED) -> list[Finding]:
    """Return the findings of all checks; with `fix`, first remove rows that no run refers to.

    If the file is damaged, return only that finding and change nothing.
    """
    with reading(kb.engine) as connection:
        damage = list(_integrity(kb, connection)) or list(_unreadable(kb, connection))
        foreign = [] if damage else list(_foreign(connection))
    if damage:
        return damage
    # A trigger may do anything when rows are removed.
    if fix and not any(finding.is_error for finding in foreign):
        with writing(kb.engine) as connection:
            for table, unused in _unused():
                connection.execute(table.delete().where(unused))
    checks: list[Callable[[KnowledgeBase, Connection], Iterator[Finding]]] = [
        _orphans,
        _contradictions,
        partial(_impossible_scores, highest=expectations.highest_scores),
        partial(_stale_versions, libraries=expectations.libraries),
        _near_duplicates,
        _unfinished_sessions,
    ]
    with reading(kb.engine) as connection:
        return foreign + [finding for check in checks for finding in check(kb, connection)]


def _integrity(kb: KnowledgeBase, connection: Connection) -> Iterator[Finding]:
    """Ask SQLite whether the file is damaged and whether references are broken."""
    if connection.dialect.name != "sqlite":
        return
    try:
        reports = list(connection.exec_driver_sql(INTEGRITY).scalars())
    except DatabaseError as error:
        reports = [str(error.orig)]
    if reports != ["ok"]:
        yield _damage(kb.name, reports)
        return
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
    if broken:
        which = ", ".join(sorted({str(row[0]) for row in broken}))
        yield Finding("integrity", f"{len(broken)} rows of {which} refer to rows that do not exist.", is_error=True)


def _unreadable(kb: KnowledgeBase, connection: Connection) -> Iterator[Finding]:
    """Find texts that should be JSON and are not: such rows cannot be read."""
    for column in tables.JSON_KINDS:
        wrong = [text for text in connection.execute(select(column)).scalars() if not _is_json(text)]
        if wrong:
            have = "row of {} has" if len(wrong) == 1 else "rows of {} have"
            text = (
                f"{len(wrong)} {have.format(column.table.name)} no JSON in {column.name}, but for example "
                f"{shorten(str(wrong[0]), LONGEST_SAMPLE)!r}. Restore a copy of {kb.name}, or correct the text by hand."
            )
            yield Finding("integrity", text, is_error=True)


def _foreign(connection: Connection) -> Iterator[Finding]:
    """Find triggers and views that metaml did not make: triggers change what is stored, views what SQL shows."""
    for name, table in connection.exec_driver_sql(TRIGGERS[connection.dialect.name]):
        what = f"The trigger {name!r} on {table!r} was not made by metaml"
        yield Finding("foreign", f"{what} and may change what is stored. Remove it with DROP TRIGGER.", is_error=True)
    views = inspect(connection)
    for name in sorted(views.get_view_names()):
        if name not in tables.VIEWS:
            yield Finding(
                "foreign", f"The view {name!r} was not made by metaml. Its name may clash with later versions."
            )
        elif connection.dialect.name == "sqlite" and _words(views.get_view_definition(name)) != _words(
            tables.view_definition(name, "sqlite")
        ):
            text = f"The view {name} was changed by hand, so SQL may show wrong values. Restore a copy of the file."
            yield Finding("foreign", text, is_error=True)


def _words(definition: str | None) -> list[str]:
    return (definition or "").split()


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _damage_of(path: Path) -> Finding | None:
    """Return the damage that SQLite finds in a file that could not be opened; None if there is none."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            reports = [str(row[0]) for row in connection.execute(INTEGRITY)]
        except sqlite3.OperationalError:
            # The file cannot be read now, for example because of a lock or a read-only folder. That is not damage.
            return None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            reports = [str(error)]
    return None if reports == ["ok"] else _damage(str(path), reports)


def _damage(name: str, reports: list[str]) -> Finding:
    words = shorten(" ".join(reports), LONGEST_REPORT, placeholder=" …")
    what = f"SQLite reports damage: {words}."
    if "not a database" in words:
        what = f"SQLite cannot open it ({words}): its first page is damaged, or it never was a knowledge base."
    rescue = f"sqlite3 {name} .recover | sqlite3 rescued.db"
    text = f"{what} Restore a copy of {name}, or save what can be read with: {rescue}"
    return Finding("integrity", text, is_error=True)


def _unused() -> list[tuple[Table, ColumnElement[bool]]]:
    """Return the tables whose rows need a run that refers to them, each with the condition that none does."""
    run, configuration, names = tables.run, tables.configuration, tables.parameter_set
    return [
        (configuration, ~exists().where(run.c.configuration_id == configuration.c.id)),
        (names, ~exists().where(configuration.c.parameter_set_id == names.c.id)),
        (tables.proposal, ~exists().where(run.c.id == tables.proposal.c.run_id)),
        (tables.prediction, ~exists().where(run.c.id == tables.prediction.c.run_id)),
    ]


def _orphans(_kb: KnowledgeBase, connection: Connection) -> Iterator[Finding]:
    for table, unused in _unused():
        n = connection.execute(select(func.count()).select_from(table).where(unused)).scalar_one()
        if n:
            yield Finding("orphans", f"{n} rows of {table.name} belong to no run.", fix="remove them")


def _contradictions(_kb: KnowledgeBase, connection: Connection) -> Iterator[Finding]:
    """Find runs that contradict themselves or one another."""
    numbers = connection.execute(select(tables.run.c.identity).order_by(tables.run.c.id)).scalars().all()
    wrong, empty, place = 0, 0, 0
    for runs in runs_in(connection):
        for run in runs:
            names, values = split_config(run.config)
            wrong += bytes(numbers[place]) != run_identity(run, names, values)
            empty += run.status == "ok" and not run.scores
            place += 1
    if wrong:
        yield Finding("contradictions", f"{wrong} runs do not match their identity: they were changed by hand.", True)
    if empty:
        yield Finding("contradictions", f"{empty} runs have the status ok but no score.", True)


def _impossible_scores(
    _kb: KnowledgeBase, connection: Connection, *, highest: Mapping[str, float]
) -> Iterator[Finding]:
    """Find scores above the highest that their metric allows."""
    run, metric_set = tables.run, tables.metric_set
    query = select(metric_set.c.names, run.c.score_list).join(metric_set, metric_set.c.id == run.c.metric_set_id)
    impossible = [
        f"{name} {value}"
        for names, values in connection.execute(query)
        for name, value in zip(json.loads(names), json.loads(values), strict=True)
        if name in highest and value is not None and value > highest[name] + ROUNDING
    ]
    if impossible:
        text = f"{len(impossible)} scores are impossible, such as {impossible[0]}."
        yield Finding("contradictions", text, is_error=True)


def _stale_versions(_kb: KnowledgeBase, connection: Connection, *, libraries: Collection[str]) -> Iterator[Finding]:
    """Find runs made with another release of one of these libraries than the one installed."""
    run, environment = tables.run, tables.environment
    counts = connection.execute(
        select(environment.c.versions, func.count(run.c.id))
        .join(run, run.c.environment_id == environment.c.id)
        .group_by(environment.c.id, environment.c.versions)
    )
    stale: dict[tuple[str, str], int] = {}
    for text, n in counts:
        for library, found in json.loads(text).items():
            if library in libraries and (here := _installed(library)) and _release(here) != _release(found):
                stale[library, found] = stale.get((library, found), 0) + n
    for (library, found), n in sorted(stale.items()):
        yield Finding("versions", f"{n} runs were made with {library} {found}; installed is {_installed(library)}.")


def _installed(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


def _release(text: str) -> tuple[str, ...]:
    return tuple(text.split(".")[:2])


def _near_duplicates(kb: KnowledgeBase, _connection: Connection) -> Iterator[Finding]:
    for pair in probable_duplicates(kb):
        if not pair.are_starters:
            yield Finding("near-duplicates", f"{pair.first} and {pair.second} look like the same data: {pair.why}.")


def probable_duplicates(kb: KnowledgeBase) -> list[NearDuplicates]:
    """Return the pairs of data sets that are probably the same, by name or by size, classes and missing values."""
    datasets = kb.datasets()
    facts = kb.metafeatures().reindex(columns=list(COMPARED_METAFEATURES))
    datasets = datasets.merge(facts, left_on="fingerprint", right_index=True, how="left")
    datasets["is_starter"] = datasets["fingerprint"].isin(_fingerprints_of_starter(kb))
    found: dict[tuple[str, str], NearDuplicates] = {}
    for name, group in datasets.groupby("name"):
        is_starter = group.set_index("fingerprint")["is_starter"].sort_index()
        for mine, other in pairwise(is_starter.index):
            first, second = f"{name} ({mine[:8]})", f"{name} ({other[:8]})"
            are_starters = bool(is_starter[mine] and is_starter[other])
            found[first, second] = NearDuplicates(first, second, "they have the same name", are_starters)
    known = datasets.dropna(subset=["NumberOfInstances", "NumberOfFeatures", "MajorityClassSize"])
    for _, group in known.groupby(list(COMPARED_METAFEATURES), dropna=False):
        size = f"{int(group['NumberOfInstances'].iloc[0])} rows, {int(group['NumberOfFeatures'].iloc[0])} columns"
        is_starter = group.groupby("name")["is_starter"].all()
        for first, second in pairwise(is_starter.index):
            why = f"{size}, the same classes and missing values"
            are_starters = bool(is_starter[first] and is_starter[second])
            found.setdefault((first, second), NearDuplicates(first, second, why, are_starters))
    return list(found.values())


def _fingerprints_of_starter(kb: KnowledgeBase) -> list[str]:
    """Return the fingerprints of the data sets that the starter has runs on."""
    used = select(tables.run.c.dataset_id).where(from_starter())
    with reading(kb.engine) as connection:
        return list(
            connection.execute(select(tables.dataset.c.fingerprint).where(tables.dataset.c.id.in_(used))).scalars()
        )


def _unfinished_sessions(_kb: KnowledgeBase, connection: Connection) -> Iterator[Finding]:
    session = tables.session
    old = or_(session.c.started_at.is_(None), session.c.started_at < time.time() - DAY)
    query = select(session.c.kind, func.count()).where(session.c.finished_at.is_(None), old).group_by(session.c.kind)
    for kind, n in connection.execute(query):
        yield Finding("sessions", f"{n} {kind} sessions were never finished; their runs are kept and complete.")


def report(findings: list[Finding]) -> pd.DataFrame:
    """Return findings as a table."""
    rows = [(f.check, "error" if f.is_error else "note", f.text, f.fix) for f in findings]
    return pd.DataFrame(rows, columns=["check", "kind", "finding", "fix"])
