"""Questions about what the knowledge base has seen: one function per question, each a single query.

`KnowledgeBase` has a method for each of them. All work on SQLite and on PostgreSQL.
"""

import json
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Select, case, func, inspect, select

from metaml_kb import tables
from metaml_kb.errors import BadQuery
from metaml_kb.predictions.packed import unpack
from metaml_kb.records import FINAL, Value

# Data sets and their metafeatures


def datasets(connection: Connection) -> pd.DataFrame:
    """Return one row per data set, by name: task, size, number of runs, target, source and fingerprint."""
    table, run = tables.dataset, tables.run
    counts = select(run.c.dataset_id, func.count().label("n_runs")).group_by(run.c.dataset_id).subquery()
    columns = [table.c[name] for name in ("name", "task", "n_rows", "n_columns", "n_classes")]
    query = (
        select(*columns, func.coalesce(counts.c.n_runs, 0).label("n_runs"), table.c.target, table.c.source)
        .add_columns(table.c.fingerprint)
        .outerjoin(counts, counts.c.dataset_id == table.c.id)
        .order_by(table.c.name, table.c.id)
    )
    return _frame(connection, query).astype(dict.fromkeys(("n_rows", "n_columns", "n_classes", "n_runs"), "Int64"))


def dataset_details(connection: Connection, task: str, target: str) -> pd.DataFrame:
    """Return the data sets with this task and target column, newest first.

    The columns are fingerprint, n_classes (None if not known), details (a dict) and n_complete, the number of runs with
    status ok.
    """
    table, run = tables.dataset, tables.run
    complete = select(func.count()).where(run.c.dataset_id == table.c.id, run.c.status == "ok").scalar_subquery()
    query = (
        select(table.c.fingerprint, table.c.n_classes, table.c.details, complete.label("n_complete"))
        .where(table.c.task == task, table.c.target == target)
        .order_by(table.c.added_at.desc(), table.c.id.desc())
    )
    # As objects, so that an unknown number of classes stays None and known ones stay integers.
    frame = _frame(connection, query, dtype=object)
    return frame.assign(details=_parsed(frame["details"]))


def metafeatures(connection: Connection, source: str | None) -> pd.DataFrame:
    """Return one row per data set (index: fingerprint) and one column per metafeature; NaN where unknown.

    Without a `source`, OpenML's value is preferred if several sources have one.
    """
    table, dataset = tables.metafeature, tables.dataset
    query = (
        select(dataset.c.fingerprint, table.c.name, table.c.source, table.c.value)
        .join(dataset, dataset.c.id == table.c.dataset_id)
        .where(table.c.value.is_not(None))
    )
    if source is not None:
        query = query.where(table.c.source == source)
    frame = _frame(connection, query).sort_values("source", key=lambda s: s != "openml", kind="stable")
    frame = frame.drop_duplicates(["fingerprint", "name"])
    return frame.pivot(index="fingerprint", columns="name", values="value").rename_axis(columns=None)


def metafeature_values(connection: Connection, fingerprint: str) -> dict[str, float]:
    """Return the metafeatures of one data set by name; NaN where undefined.

    If several sources have a metafeature, the source that comes last in the alphabet counts.
    """
    table, dataset = tables.metafeature, tables.dataset
    query = (
        select(table.c.name, table.c.value)
        .join(dataset, dataset.c.id == table.c.dataset_id)
        .where(dataset.c.fingerprint == fingerprint)
        .order_by(table.c.name, table.c.source)
    )
    return {name: np.nan if value is None else float(value) for name, value in connection.execute(query)}


def is_described(connection: Connection, fingerprint: str, unless_reason: str) -> bool:
    """Return whether metafeatures of a data set are stored and none is undefined for this reason."""
    table, dataset = tables.metafeature, tables.dataset
    query = (
        select(func.count(), func.sum(case((table.c.reason == unless_reason, 1), else_=0)))
        .select_from(table)
        .join(dataset, dataset.c.id == table.c.dataset_id)
        .where(dataset.c.fingerprint == fingerprint)
    )
    n_stored, n_with_reason = connection.execute(query).one()
    return bool(n_stored and not n_with_reason)


# Runs


def n_runs(connection: Connection) -> int:
    """Return the number of runs, failed ones included."""
    return int(connection.execute(select(func.count()).select_from(tables.run)).scalar_one())


def run_counts(connection: Connection) -> dict[tuple[str, str], int]:
    """Return the number of runs by data set (fingerprint) and algorithm, failed ones included."""
    run, dataset, algorithm = tables.run, tables.dataset, tables.algorithm
    counts = (
        select(run.c.dataset_id, run.c.algorithm_id, func.count().label("n"))
        .group_by(run.c.dataset_id, run.c.algorithm_id)
        .subquery()
    )
    query = (
        select(dataset.c.fingerprint, algorithm.c.name, counts.c.n)
        .join(counts, counts.c.dataset_id == dataset.c.id)
        .join(algorithm, algorithm.c.id == counts.c.algorithm_id)
    )
    return {(fingerprint, name): n for fingerprint, name, n in connection.execute(query)}


def has_algorithm(connection: Connection, name: str) -> bool:
    """Return whether a run of this algorithm was ever stored."""
    table = tables.algorithm
    return connection.execute(select(table.c.id).where(table.c.name == name).limit(1)).first() is not None


def configs(connection: Connection, dataset: str, algorithm: str) -> list[dict[str, Value]]:
    """Return the distinct configurations of an algorithm that were run on a data set (fingerprint)."""
    run, configuration, names = tables.run, tables.configuration, tables.parameter_set
    query = (
        select(names.c.names, configuration.c.value_list)
        .join(configuration, configuration.c.parameter_set_id == names.c.id)
        .join(run, run.c.configuration_id == configuration.c.id)
        .join(tables.dataset, tables.dataset.c.id == run.c.dataset_id)
        .join(tables.algorithm, tables.algorithm.c.id == run.c.algorithm_id)
        .where(tables.dataset.c.fingerprint == dataset, tables.algorithm.c.name == algorithm)
        .distinct()
    )
    rows = connection.execute(query).fetchall()
    return [dict(zip(json.loads(keys), json.loads(values), strict=True)) for keys, values in rows]


def recent_seconds(connection: Connection, limit: int) -> pd.DataFrame:
    """Return what the newest runs cost, newest first, at most `limit` of them.

    The columns are fingerprint, algorithm, n_rows (of the data set) and seconds (to fit and predict; 0 if not
    measured). Runs on data sets of unknown size are left out.
    """
    run, dataset, algorithm = tables.run, tables.dataset, tables.algorithm
    seconds = func.coalesce(run.c.fit_seconds, 0.0) + func.coalesce(run.c.predict_seconds, 0.0)
    query = (
        select(dataset.c.fingerprint, algorithm.c.name.label("algorithm"), dataset.c.n_rows, seconds.label("seconds"))
        .select_from(run)
        .join(dataset, dataset.c.id == run.c.dataset_id)
        .join(algorithm, algorithm.c.id == run.c.algorithm_id)
        .where(dataset.c.n_rows.is_not(None))
        .order_by(run.c.id.desc())
        .limit(limit)
    )
    return _frame(connection, query).astype({"n_rows": np.int64, "seconds": np.float64})


def predictions(connection: Connection, run: str) -> np.ndarray:
    """Return the out-of-fold predictions of the run with this identity, as `unpack` says."""
    table = tables.prediction
    query = (
        select(table.c.n_rows, table.c.n_columns, table.c.data)
        .join(tables.run, tables.run.c.id == table.c.run_id)
        .where(tables.run.c.identity == bytes.fromhex(run))
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise BadQuery(f"Run {run} has no stored predictions. Choose one from: metaml kb runs")
    return unpack(*row)


# Sessions, and how runs were made


def sessions(connection: Connection, kind: str | None, *, unfinished: bool) -> pd.DataFrame:
    """Return one row per session, newest first, settings as a dict; `unfinished` keeps only those without an end."""
    table, run = tables.session, tables.run
    columns = [table.c[name] for name in ("id", "key", "kind", "seed", "started_at", "finished_at", "settings")]
    query = select(*columns).order_by(table.c.started_at.desc(), table.c.id.desc())
    if kind is not None:
        query = query.where(table.c.kind == kind)
    if unfinished:
        query = query.where(table.c.finished_at.is_(None))
    frame = _frame(connection, query).astype({"seed": "Int64", "started_at": np.float64, "finished_at": np.float64})
    settings = _parsed(frame["settings"])
    finals = [found.get(FINAL) or {} for found in settings]
    counted = select(run.c.session_id, func.count()).group_by(run.c.session_id)
    counts = {number: n for number, n in connection.execute(counted)}
    return pd.DataFrame(
        {
            **{name: frame[name] for name in ("key", "kind", "seed", "started_at", "finished_at")},
            **{name: pd.array([found.get(name) for found in settings], dtype="str") for name in ("user", "project")},
            "n_runs": np.array([counts.get(number, 0) for number in frame["id"]], dtype=np.int64),
            "metric": pd.array([final.get("metric") for final in finals], dtype="str"),
            "score": np.array([final.get("score") for final in finals], dtype=np.float64),
            "settings": pd.Series(settings, dtype=object),
        }
    )


def has_session(connection: Connection, kind: str) -> bool:
    """Return whether a session of this kind is stored."""
    table = tables.session
    return connection.execute(select(table.c.id).where(table.c.kind == kind).limit(1)).first() is not None


def session_environments(connection: Connection) -> pd.DataFrame:
    """Return the environments in which each session made runs: session, reference_seconds, versions (a dict).

    A session that made runs in several environments has a row for each.
    """
    run, session, environment = tables.run, tables.session, tables.environment
    query = (
        select(session.c.key.label("session"), environment.c.reference_seconds, environment.c.versions)
        .distinct()
        .select_from(run)
        .join(session, session.c.id == run.c.session_id)
        .join(environment, environment.c.id == run.c.environment_id)
    )
    frame = _frame(connection, query).astype({"reference_seconds": np.float64})
    return frame.assign(versions=_parsed(frame["versions"]))


def fold_plans(connection: Connection) -> pd.DataFrame:
    """Return one row per fold plan, oldest first: key, strategy, n_folds and max_rows; NA where unknown."""
    table = tables.fold_plan
    query = select(table.c.key, table.c.strategy, table.c.n_folds, table.c.max_rows).order_by(table.c.id)
    return _frame(connection, query).astype({"n_folds": "Int64", "max_rows": "Int64"})


# The knowledge base itself


def key_and_revision(connection: Connection) -> tuple[str, int]:
    """Return the random key of the knowledge base, and a number that grows with every addition."""
    table = tables.knowledge_base
    key, revision = connection.execute(select(table.c.key, table.c.revision)).one()
    return str(key), int(revision)


def schema(connection: Connection) -> pd.DataFrame:
    """Return one row per column of each table and view."""
    inspector = inspect(connection)
    rows = [
        (kind, name, column["name"], str(column["type"]))
        for kind, names in (("table", inspector.get_table_names()), ("view", inspector.get_view_names()))
        for name in sorted(names)
        if name != "alembic_version"
        for column in inspector.get_columns(name)
    ]
    return pd.DataFrame(rows, columns=["kind", "name", "column", "type"])


def _frame(connection: Connection, query: Select[Any], dtype: type | None = None) -> pd.DataFrame:
    result = connection.execute(query)
    # pandas takes tuples at once, but looks for attributes of each row of SQLAlchemy.
    return pd.DataFrame(list(map(tuple, result)), columns=list(result.keys()), dtype=dtype)


def _parsed(texts: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return JSON texts as dicts."""
    return pd.Series([json.loads(text) for text in texts], index=texts.index, dtype=object)
