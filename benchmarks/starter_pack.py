"""From the bot's knowledge base to the file that ships: smaller, and without what tells about the machine."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, bindparam, exists, func, select, update

from metaml_kb import EnvironmentRecord, KnowledgeBase, tables
from metaml_kb.dimensions import to_json
from metaml_kb.engine import reading, writing
from metaml_kb.packing import pack_scores, unpack_folds
from metaml_kb.provenance import STARTER

HOST = "the machine that made the starter: 2 cores"
ERROR_LENGTH = 120
SCORE_BITS, FACT_BITS, SECONDS_BITS = 20, 26, 13
"""Bits behind the leading one: about six, eight and four significant digits."""


def snapshot(place: Path, copy: Path) -> None:
    """Copy a SQLite knowledge base that others may be writing to, without touching it."""
    with (
        closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)


def make_starter(kb: KnowledgeBase, factors: Mapping[str, float]) -> None:
    """Turn a bot's knowledge base into a starter, in place; every run stays.

    The seconds of a session are multiplied by its factor: those of a machine that does nothing else.
    """
    with writing(kb.engine) as connection:
        _correct_seconds(connection, factors)
        for table in (tables.prediction, tables.event, tables.proposal):
            connection.execute(table.delete())
        _forget_unused(connection)
        connection.execute(update(tables.fold_plan).values(assignment=None))
        run = tables.run
        connection.execute(update(run).values(error=func.substr(run.c.error, 1, ERROR_LENGTH)))
        _rename_sessions(connection)
        _describe_machines(connection)
        _shorten_scores(connection)
        _shorten_numbers(connection, run, ("probability",), SCORE_BITS)
        _shorten_numbers(connection, run, ("fit_seconds", "predict_seconds", "peak_megabytes"), SECONDS_BITS)
        connection.execute(update(run).values(finished_at=func.round(run.c.finished_at)))
        _shorten_numbers(connection, tables.metafeature, ("value",), FACT_BITS)
        _shorten_numbers(connection, tables.metafeature_group, ("seconds",), SECONDS_BITS)


def _correct_seconds(connection: Connection, factors: Mapping[str, float]) -> None:
    run, session = tables.run, tables.session
    for key, factor in factors.items():
        number = select(session.c.id).where(session.c.key == key).scalar_subquery()
        changed = {name: run.c[name] * factor for name in ("fit_seconds", "predict_seconds")}
        connection.execute(update(run).where(run.c.session_id == number).values(**changed))


def shortened(values: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """Return numbers with this many bits behind the leading one; the rest is zero and packs to nothing.

    >>> shortened(np.array([1 / 3, 5.0]), 4).tolist()
    [0.328125, 5.0]
    """
    mantissas, exponents = np.frexp(values)
    scale = 2.0 ** (bits + 1)
    return np.ldexp(np.round(mantissas * scale) / scale, exponents)


def _forget_unused(connection: Connection) -> None:
    """Leave out data sets, fold plans and sessions that no run is about."""
    run, dataset = tables.run, tables.dataset
    unused = select(dataset.c.id).where(~exists().where(run.c.dataset_id == dataset.c.id))
    for table in (tables.metafeature, tables.metafeature_group):
        connection.execute(table.delete().where(table.c.dataset_id.in_(unused)))
    for table in (dataset, tables.fold_plan, tables.session):
        connection.execute(table.delete().where(~exists().where(run.c[f"{table.name}_id"] == table.c.id)))


def _rename_sessions(connection: Connection) -> None:
    """Make each session a starter's and write its hours and versions into its settings; earlier starters stay."""
    session, run = tables.session, tables.run
    for row in connection.execute(select(session).where(session.c.kind != STARTER)).mappings().fetchall():
        mine = run.c.session_id == row["id"]
        last = connection.execute(select(func.max(run.c.finished_at)).where(mine)).scalar_one()
        machines = select(tables.environment.c.versions).where(
            tables.environment.c.id.in_(select(run.c.environment_id).where(mine))
        )
        finished = row["finished_at"] or last
        settings = json.loads(row["settings"]) | {
            "title": "The starter experience of metaml: random configurations on public data sets",
            "made_by": f"metaml {row['kind']}",
            "hours": round((finished - row["started_at"]) / 3600, 2),
            "versions": [json.loads(text) for text in connection.execute(machines).scalars()],
        }
        connection.execute(
            update(session)
            .where(session.c.id == row["id"])
            .values(kind=STARTER, finished_at=finished, settings=to_json(settings))
        )


def _describe_machines(connection: Connection) -> None:
    """Replace the names of hosts by a plain description; versions and reference seconds stay."""
    table = tables.environment
    for row in connection.execute(select(table)).mappings().fetchall():
        record = EnvironmentRecord(
            json.loads(row["versions"]),
            host=HOST,
            platform=row["platform"].partition("-")[0],
            processor=row["processor"],
            reference_seconds=row["reference_seconds"],
        )
        connection.execute(
            update(table)
            .where(table.c.id == row["id"])
            .values(key=record.key, host=record.host, platform=record.platform)
        )


def _shorten_scores(connection: Connection) -> None:
    """Round the scores per fold; their means get eleven digits, which a merge calls equal."""
    run = tables.run
    names = {n: json.loads(text) for n, text in connection.execute(select(tables.metric_set)).tuples()}
    changes = []
    query = select(run.c.id, run.c.metric_set_id, run.c.fold_scores).where(run.c.fold_scores.is_not(None))
    for number, metrics, data in connection.execute(query):
        folds = unpack_folds(len(names[metrics]), data)
        rounded = [shortened(np.asarray(row), SCORE_BITS).tolist() for row in folds]
        _, means, packed = pack_scores(dict(zip(names[metrics], rounded, strict=True)))
        short = [None if mean is None else float(f"{mean:.11g}") for mean in json.loads(means)]
        changes.append({"number": number, "means": json.dumps(short, separators=(",", ":")), "packed": packed})
    if changes:
        change = update(run).where(run.c.id == bindparam("number"))
        connection.execute(change.values(score_list=bindparam("means"), fold_scores=bindparam("packed")), changes)


def _shorten_numbers(connection: Connection, table: Table, columns: Iterable[str], bits: int) -> None:
    keys = list(table.primary_key)
    for column in columns:
        query = select(*keys, table.c[column]).where(table.c[column].is_not(None))
        rows = connection.execute(query).fetchall()
        if rows:
            values = shortened(np.array([row[-1] for row in rows], dtype=np.float64), bits).tolist()
            changes: list[dict[str, Any]] = [
                {**{f"key_{key.name}": part for key, part in zip(keys, row, strict=False)}, "new": value}
                for row, value in zip(rows, values, strict=True)
            ]
            wanted = [key == bindparam(f"key_{key.name}") for key in keys]
            connection.execute(update(table).where(*wanted).values({column: bindparam("new")}), changes)


def told(kb: KnowledgeBase) -> list[str]:
    """Return what a starter holds, in lines."""
    info = kb.info()
    with reading(kb.engine) as connection:
        settings = [json.loads(text) for text in connection.execute(select(tables.session.c.settings)).scalars()]
    ours = [one for one in settings if "hours" in one]
    datasets = kb.datasets()
    tasks = Counter(datasets["source"] + " " + datasets["task"])
    return [
        f"runs by status: {_listed(info['runs_by_status'])}",
        f"runs by algorithm: {_listed(info['runs_by_algorithm'])}",
        f"data sets: {_listed(tasks)}",
        f"hours of bot work: {sum(one['hours'] for one in ours):.2f}",
        *(f"versions: {_listed(versions)}" for one in ours for versions in one["versions"]),
    ]


def _listed(counts: dict[Any, Any]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())
