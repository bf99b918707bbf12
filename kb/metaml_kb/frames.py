"""Runs as a data frame: one row per run; hyperparameters, scores and seconds are columns. Types are kept."""

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Column, ColumnElement, Connection, LargeBinary, cast, func, select

from metaml_kb import tables
from metaml_kb.columns import decode, hexadecimal, scatter
from metaml_kb.errors import BadQuery
from metaml_kb.filters import RunFilter, condition_for
from metaml_kb.packing import unpack_folds
from metaml_kb.records import STATUSES
from metaml_kb.runrows import AS_STORED
from metaml_kb.words import Words, names_of

# Larger chunks are slower: their objects do not stay in the processor's cache.
CHUNK = 2_000
LEADING = ("run", "dataset", "algorithm", "status", "origin", "seed", "fold_plan", "session")
TRAILING = tuple(name for name in AS_STORED if name not in LEADING)
"""The columns before and after those of hyperparameters and scores."""
MEASURED = tuple(name for name in TRAILING if name != "error")
"""Columns that are fetched for every run; only few runs have an error."""
NUMBERS: dict[str, Any] = {"seed": np.int64} | {
    name: object if tables.run.c[name].type.python_type is str else np.float64 for name in MEASURED
}
"""The types of the columns that are fetched as they are stored: numbers, or words."""


@dataclass(eq=False)
class _Fetched:
    """The selected runs. Each chunk becomes arrays at once, so that few Python objects exist at a time.

    - `codes`, `numbers`: arrays by name, one for each chunk.
    - `identities`: all 16-byte identities, one after the other.
    - `lines`: for `parameter_set` and `metric_set`, for each number of a set: the positions of the runs that have it,
      and their JSON arrays as lines; one pair for each chunk.
    - `folds`: the packed scores per fold, if they are wanted.
    """

    size: int = 0
    codes: dict[str, list[np.ndarray]] = field(default_factory=dict)
    numbers: dict[str, list[np.ndarray]] = field(default_factory=dict)
    identities: bytearray = field(default_factory=bytearray)
    lines: dict[str, dict[int, list[tuple[np.ndarray, bytes]]]] = field(default_factory=dict)
    folds: list[bytes | None] = field(default_factory=list)

    def add(self, chunk: Mapping[str, tuple[Any, ...]], words: Words) -> None:
        """Take over a chunk of rows, given as columns."""
        codes = words.unpack(chunk)
        for kind, code in codes.items():
            self.codes.setdefault(kind, []).append(code)
        for name in NUMBERS:
            self.numbers.setdefault(name, []).append(np.array(chunk[name], dtype=NUMBERS[name]))
        self.identities += b"".join(chunk["identity"])
        for kind, name in (("parameter_set", "value_list"), ("metric_set", "score_list")):
            self._add_lines(kind, codes[kind], chunk[name])
        self.folds += chunk.get("fold_scores", ())
        self.size += len(chunk["identity"])

    def _add_lines(self, kind: str, sets: np.ndarray, texts: tuple[bytes, ...]) -> None:
        lines = self.lines.setdefault(kind, {})
        is_one = (sets == sets[0]).all()
        for number in sets[:1] if is_one else pd.unique(sets):
            places = np.flatnonzero(sets == number)
            chosen = texts if is_one else [texts[place] for place in places]
            lines.setdefault(int(number), []).append((places + self.size, b"\n".join(chosen)))

    def code(self, kind: str) -> np.ndarray:
        """Return the number of the word of this kind for each run."""
        return np.concatenate(self.codes[kind]) if self.codes else np.array([], dtype=np.int64)

    def number(self, name: str) -> np.ndarray:
        """Return a column as it is stored."""
        return np.concatenate(self.numbers[name]) if self.numbers else np.array([], dtype=NUMBERS[name])


def runs_frame(connection: Connection, wanted: RunFilter, *, folds: bool = False) -> pd.DataFrame:
    """Return the selected runs, in the order in which they were stored. `KnowledgeBase.runs` explains the columns."""
    words = Words.of(connection)
    table = _fetch(connection, wanted, words, folds=folds)
    hyperparameters = _spread(words.names["parameter_set"], table.lines.get("parameter_set", {}), table.size)
    if folds:
        scores = _fold_columns(words.names["metric_set"], table.code("metric_set"), table.folds)
    else:
        scores = _spread(words.names["metric_set"], table.lines.get("metric_set", {}), table.size)
        scores = {name: np.asarray(column, dtype=np.float64) for name, column in scores.items()}
    scores |= {name: _absent(table.size, folds) for name in metric_names(connection) if name not in scores}
    for name in _hyperparameters(connection, wanted):
        hyperparameters.setdefault(name, np.full(table.size, np.nan))
    reserved = {*LEADING, *TRAILING, *scores}
    columns: dict[str, Any] = {
        "run": hexadecimal(bytes(table.identities)),
        **{name: words.column(name, table.code(name)) for name in ("dataset", "algorithm", "status", "origin")},
        "seed": table.number("seed"),
        **{name: words.column(name, table.code(name)) for name in ("fold_plan", "session")},
    }
    for name, column in hyperparameters.items():
        # Without an explicit dtype, pandas would read None beside words as a missing value.
        kept = pd.Series(column, dtype=object) if column.dtype == object else column
        columns[name if name not in reserved else f"config.{name}"] = kept
    columns |= scores
    columns |= {name: _typed(table.number(name)) for name in MEASURED}
    columns["error"] = _errors(connection, wanted, table)
    columns["finished_at"] = pd.to_datetime(columns["finished_at"], unit="s", utc=True)
    frame = pd.DataFrame(columns, index=pd.RangeIndex(table.size))
    frame.attrs["metrics"] = list(scores)
    return frame


def _absent(size: int, folds: bool) -> Any:
    """Return the column of a metric that no selected run has."""
    return pd.Series([None] * size, dtype=object) if folds else np.full(size, np.nan)


def _hyperparameters(connection: Connection, wanted: RunFilter) -> list[str]:
    """Return the hyperparameters that any run of the wanted algorithms has, so that a selection loses no column."""
    table, algorithm = tables.parameter_set, tables.algorithm
    query = select(table.c.names).join(algorithm, algorithm.c.id == table.c.algorithm_id).order_by(table.c.id)
    if wanted.algorithm is not None:
        names = [wanted.algorithm] if isinstance(wanted.algorithm, str) else list(wanted.algorithm)
        query = query.where(algorithm.c.name.in_(names))
    texts = connection.execute(query).scalars()
    return list(dict.fromkeys(name for text in texts for name in json.loads(text)))


def hyperparameter_columns(runs: pd.DataFrame) -> list[str]:
    """Return the columns of a frame of runs that are hyperparameters, in their order."""
    others = {*LEADING, *TRAILING, *runs.attrs.get("metrics", ())}
    return [name for name in runs.columns if name not in others]


def _fetch(connection: Connection, wanted: RunFilter, words: Words, *, folds: bool) -> _Fetched:
    """Return the columns of the selected runs; the database packs small numbers into one integer."""
    run, configuration = tables.run, tables.configuration
    chosen = [run.c[name] for name in ("identity", *NUMBERS)] + ([run.c.fold_scores] if folds else [])
    texts = [_as_bytes(connection, column) for column in (run.c.score_list, configuration.c.value_list)]
    packed = words.packed()
    names = [*packed, *(column.name for column in chosen), "score_list", "value_list"]
    condition = condition_for(connection, wanted)
    query = (
        select(*packed.values(), *chosen, *texts)
        .join(configuration, configuration.c.id == run.c.configuration_id)
        .where(*condition)
    )
    if wanted.limit is not None:
        newest = select(run.c.id).where(*condition).order_by(run.c.id.desc()).limit(wanted.limit).subquery()
        query = query.where(run.c.id >= select(func.min(newest.c.id)).scalar_subquery())
    table = _Fetched()
    with _uncollected():
        cursor = connection.execute(query.order_by(run.c.id)).cursor
        while cursor is not None and (rows := cursor.fetchmany(CHUNK)):
            table.add(dict(zip(names, zip(*rows, strict=True), strict=True)), words)
    return table


def _typed(values: np.ndarray) -> Any:
    """Return a column of the frame: words as such, numbers with NaN where there is none."""
    return pd.array(values, dtype="str") if values.dtype == object else values


def _as_bytes(connection: Connection, column: Column[Any]) -> ColumnElement[bytes]:
    """Return the SQL for a text as UTF-8 bytes. The parser reads bytes, so decoding them would waste time."""
    if connection.dialect.name == "postgresql":
        return func.convert_to(column, "UTF8")
    return cast(column, LargeBinary)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector: it would scan millions of new tuples repeatedly and find nothing to free."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _errors(connection: Connection, wanted: RunFilter, table: _Fetched) -> Any:
    """Return the error of each run that did not complete. Complete runs have none, so they are not queried."""
    column = np.full(table.size, None, dtype=object)
    failed = np.flatnonzero(table.code("status") != STATUSES.index("ok"))
    if failed.size:
        run = tables.run
        query = select(run.c.identity, run.c.error).where(*condition_for(connection, wanted), run.c.error.is_not(None))
        errors = {bytes(identity): text for identity, text in connection.execute(query)}
        column[failed] = [errors.get(bytes(table.identities[16 * place : 16 * place + 16])) for place in failed]
    return pd.array(column, dtype="str")


def _spread(
    names_of_set: Mapping[int, str], lines: Mapping[int, Sequence[tuple[np.ndarray, bytes]]], size: int
) -> dict[str, Any]:
    """Return one column per name. Each line is a JSON array of values; the number of its set says which names."""
    parts: dict[str, list[tuple[np.ndarray, Any]]] = {}
    for number, chunks in lines.items():
        places = np.concatenate([place for place, _ in chunks])
        names = json.loads(names_of_set[number])
        columns = decode(b"\n".join([line for _, line in chunks]), len(places), len(names))
        for name, column in zip(names, columns, strict=True):
            parts.setdefault(name, []).append((places, column))
    return {name: scatter(pieces, size) for name, pieces in parts.items()}


def _fold_columns(names_of_set: Mapping[int, str], numbers: np.ndarray, packed: list[bytes | None]) -> dict[str, Any]:
    """Return one column of arrays per metric: the values per fold, None if only the mean is known."""
    columns: dict[str, list[np.ndarray | None]] = {}
    for row, (number, data) in enumerate(zip(numbers, packed, strict=True)):
        names = json.loads(names_of_set[int(number)])
        for name, values in zip(names, unpack_folds(len(names), data), strict=True):
            columns.setdefault(name, [None] * len(packed))[row] = values
    return {name: pd.Series(values, dtype=object) for name, values in columns.items()}


def best_frame(connection: Connection, dataset: str, metric: str, n: int) -> pd.DataFrame:
    """Return the n best complete runs on a data set by a metric, best first."""
    name = find_metric(connection, metric)
    frame = runs_frame(connection, RunFilter(dataset=dataset, status="ok"))
    if name not in frame:
        raise BadQuery(
            f"No complete run on {dataset} has the metric {metric!r}. See: metaml kb runs --dataset {dataset}"
        )
    best = frame.dropna(subset=[name]).sort_values(name, ascending=False, kind="stable").head(n)
    return best.loc[:, [*_columns_in_use(best)]].reset_index(drop=True)


def _columns_in_use(frame: pd.DataFrame) -> list[str]:
    """Return the fixed columns, and the hyperparameters and metrics that at least one run has."""
    fixed = {*LEADING, *TRAILING}
    active = {name for name in frame.columns if any(value is None or value == value for value in frame[name])}
    frame.attrs["metrics"] = [name for name in frame.attrs["metrics"] if name in active]
    return [name for name in frame.columns if name in fixed or name in active]


def metric_names(connection: Connection) -> list[str]:
    """Return the names of all stored metrics, sorted."""
    return sorted(
        {name for text in names_of(connection, tables.metric_set, "names").values() for name in json.loads(text)}
    )


def find_metric(connection: Connection, metric: str) -> str:
    """Return a metric's stored name; `log_loss` finds `neg_log_loss`."""
    known = metric_names(connection)
    for name in (metric, f"neg_{metric}"):
        if name in known:
            return name
    raise BadQuery(
        f"No run has the metric {metric!r}. Metrics in the knowledge base: {', '.join(known) or 'none yet'}."
    )


def summary(connection: Connection, name: str, head: str) -> dict[str, Any]:
    """Return what a knowledge base holds, as plain values."""
    run, session, algorithm = tables.run, tables.session, tables.algorithm
    statuses = {
        status: n for status, n in connection.execute(select(run.c.status, func.count()).group_by(run.c.status))
    }
    by_algorithm = connection.execute(
        select(algorithm.c.name, func.count())
        .join(run, run.c.algorithm_id == algorithm.c.id)
        .group_by(algorithm.c.name)
        .order_by(func.count().desc(), algorithm.c.name)
    )
    by_kind = connection.execute(
        select(session.c.kind, func.count(func.distinct(session.c.id)), func.count(run.c.id))
        .outerjoin(run, run.c.session_id == session.c.id)
        .group_by(session.c.kind)
        .order_by(session.c.kind)
    )
    newest = connection.execute(select(func.max(run.c.finished_at))).scalar()
    key, created, revision = connection.execute(
        select(tables.knowledge_base.c.key, tables.knowledge_base.c.created_at, tables.knowledge_base.c.revision)
    ).one()
    count = {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in (tables.dataset, tables.configuration, tables.metafeature, tables.environment)
    }
    return {
        "knowledge_base": name,
        "schema": head,
        "key": key,
        "revision": revision,
        "created_at": datetime.fromtimestamp(created, UTC).isoformat(timespec="seconds"),
        "newest_run": datetime.fromtimestamp(newest, UTC).isoformat(timespec="seconds") if newest else None,
        "runs": sum(statuses.values()),
        "runs_by_status": statuses,
        "runs_by_algorithm": {algorithm_name: n for algorithm_name, n in by_algorithm},
        "sessions": {kind: {"sessions": n, "runs": runs} for kind, n, runs in by_kind},
        "datasets": count["dataset"],
        "configurations": count["configuration"],
        "metafeature_values": count["metafeature"],
        "environments": count["environment"],
        "metrics": metric_names(connection),
    }
