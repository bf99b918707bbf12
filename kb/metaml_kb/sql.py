"""The knowledge base object: what a person types after `open_kb()`."""

import json
import os
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, func, inspect, select, update

from metaml_kb import dimensions, frames, schema, tables, writing
from metaml_kb.engine import display_name, locate, make_engine, reading
from metaml_kb.engine import writing as write_transaction
from metaml_kb.errors import BadQuery, BadRecord
from metaml_kb.filters import Names, RunFilter
from metaml_kb.packing import unpack_predictions
from metaml_kb.provenance import counts_by_source
from metaml_kb.query import read_sql
from metaml_kb.records import DatasetRecord, EnvironmentRecord, Event, FoldPlanRecord, Run, SessionRecord, Value
from metaml_kb.writing import Added

CHUNK = 5_000


def open_kb(path_or_url: str | Path | None = None, *, create: bool = True) -> "KnowledgeBase":
    """Return the knowledge base at a path or SQLAlchemy URL; by default METAML_KB, else the user's own file.

    A missing one is made unless `create` is False. ":memory:" lives as long as the object.

    >>> with open_kb(":memory:") as kb:
    ...     len(kb.runs())
    0
    """
    url = locate(path_or_url)
    schema.check_file(url, create=create)
    engine = make_engine(url)
    try:
        schema.prepare(engine, create_missing=create)
    except BaseException:
        engine.dispose()
        raise
    return KnowledgeBase(engine)


class KnowledgeBase:
    """Every run ever made, in one database. Runs are only ever added."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._process = os.getpid()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.name!r})"

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        return display_name(self.engine.url)

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()

    def _ours(self) -> Engine:
        """Return the engine, with fresh connections in a forked child: a parent's must not be shared."""
        if os.getpid() != self._process:
            self.engine.dispose(close=False)
            self._process = os.getpid()
        return self.engine

    # Adding

    def add_dataset(self, record: DatasetRecord) -> bool:
        """Store a data set unless its fingerprint is known; return whether it was new.

        Of a known one only its task is learnt, where that was none.
        """
        with write_transaction(self._ours()) as connection:
            return dimensions.add_dataset(connection, record)

    def add_run(self, run: Run, *, events: Sequence[Event] = ()) -> Added:
        """Store a run; when this returns it is on the disk. A known run is left as it is.

        With it `events` are appended to the log of its session: all of that is stored, or nothing.
        """
        with write_transaction(self._ours()) as connection:
            added = writing.add_chunk(connection, [run])
            if events:
                self._append_events(connection, run.session or "", events)
        return added

    def add_runs(self, runs: Iterable[Run], *, chunk: int = CHUNK) -> Added:
        """Store many runs, a transaction per chunk, in bounded memory."""
        total = Added()
        for part in writing.chunks(runs, chunk):
            with write_transaction(self._ours()) as connection:
                total += writing.add_chunk(connection, part)
        return total

    def add_fold_plan(self, record: FoldPlanRecord) -> None:
        """Store a fold plan unless it is known."""
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.fold_plan, asdict(record))

    def add_environment(self, record: EnvironmentRecord) -> str:
        """Store an environment unless it is known; return its key."""
        row = asdict(record) | {"key": record.key, "versions": dimensions.to_json(record.versions)}
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.environment, row)
        return record.key

    def add_session(self, record: SessionRecord) -> None:
        """Store a session unless it is known."""
        row = asdict(record) | {"settings": dimensions.to_json(record.settings)}
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.session, row)

    def start_session(self, kind: str, *, seed: int | None = None, settings: Mapping[str, Any] | None = None) -> str:
        """Open a session (bot, tune, import) and return its key."""
        record = SessionRecord(uuid.uuid4().hex, kind, time.time(), seed=seed, settings=settings or {})
        self.add_session(record)
        return record.key

    def finish_session(self, key: str) -> None:
        """Write down that a session ended."""
        with write_transaction(self._ours()) as connection:
            table = tables.session
            connection.execute(update(table).where(table.c.key == key).values(finished_at=time.time()))

    def add_event(self, session: str, kind: str, details: Mapping[str, Any]) -> int:
        """Append to a session's event log and return the event's number."""
        return self.add_events(session, [(kind, details)])

    def add_events(self, session: str, events: Sequence[Event]) -> int:
        """Append events (kind and details) to a session's log and return the last one's number."""
        with write_transaction(self._ours()) as connection:
            return self._append_events(connection, session, events)

    def add_metafeatures(
        self,
        dataset: str,
        values: Mapping[str, float],
        *,
        source: str = "computed",
        reasons: Mapping[str, str] | None = None,
        seconds: Mapping[str, float] | None = None,
        n_rows: Mapping[str, int] | None = None,
    ) -> None:
        """Store what is known of a data set (by fingerprint); a value replaces one that was undefined.

        `reasons` says why a NaN is undefined; `seconds` and `n_rows` are per group of metafeatures.
        """
        with write_transaction(self._ours()) as connection:
            dimensions.add_metafeatures(
                connection, dataset, values, source=source, reasons=reasons, seconds=seconds, n_rows=n_rows
            )

    def _append_events(self, connection: Connection, session: str, events: Sequence[Event]) -> int:
        table, now = tables.event, time.time()
        owner = self._session_number(connection, session)
        last = select(func.coalesce(func.max(table.c.number), 0)).where(table.c.session_id == owner)
        first = int(connection.execute(last).scalar_one()) + 1
        rows = [
            (owner, number, now, kind, dimensions.to_json(details))
            for number, (kind, details) in enumerate(events, start=first)
        ]
        dimensions.insert_rows(connection, table, ("session_id", "number", "at", "kind", "details"), rows)
        return first + len(rows) - 1

    def _session_number(self, connection: Connection, key: str) -> int:
        numbers = dimensions.number_names(connection, tables.session, "key", [key])
        if key not in numbers:
            raise BadRecord(f"There is no session {key!r} in the knowledge base. Open one with start_session.")
        return numbers[key]

    # Asking

    def datasets(self) -> pd.DataFrame:
        """Return one row per data set with its number of runs."""
        table, run = tables.dataset, tables.run
        counts = select(run.c.dataset_id, func.count().label("n_runs")).group_by(run.c.dataset_id).subquery()
        columns = [table.c[name] for name in ("name", "task", "n_rows", "n_columns", "n_classes")]
        query = (
            select(*columns, func.coalesce(counts.c.n_runs, 0).label("n_runs"), table.c.target, table.c.source)
            .add_columns(table.c.fingerprint)
            .outerjoin(counts, counts.c.dataset_id == table.c.id)
            .order_by(table.c.name, table.c.id)
        )
        with reading(self._ours()) as connection:
            result = connection.execute(query)
            frame = pd.DataFrame(result.fetchall(), columns=list(result.keys()))
        return frame.astype(dict.fromkeys(("n_rows", "n_columns", "n_classes", "n_runs"), "Int64"))

    def metafeatures(self, *, source: str | None = None) -> pd.DataFrame:
        """Return one row per data set (index: fingerprint) and a column per metafeature.

        Where several sources know a value, OpenML's comes before our own.
        """
        table, dataset = tables.metafeature, tables.dataset
        query = (
            select(dataset.c.fingerprint, table.c.name, table.c.source, table.c.value)
            .join(dataset, dataset.c.id == table.c.dataset_id)
            .where(table.c.value.is_not(None))
        )
        if source is not None:
            query = query.where(table.c.source == source)
        with reading(self._ours()) as connection:
            rows = connection.execute(query).fetchall()
        frame = pd.DataFrame(rows, columns=["fingerprint", "name", "source", "value"])
        frame = frame.sort_values("source", key=lambda s: s != "openml", kind="stable")
        frame = frame.drop_duplicates(["fingerprint", "name"])
        return frame.pivot(index="fingerprint", columns="name", values="value").rename_axis(columns=None)

    def runs(
        self,
        *,
        dataset: Names = None,
        algorithm: Names = None,
        status: Names = None,
        origin: Names = None,
        session: Names = None,
        since: datetime | float | str | None = None,
        limit: int | None = None,
        folds: bool = False,
    ) -> pd.DataFrame:
        """Return one row per run; hyperparameters, scores and seconds are columns.

        Each filter takes one name or several, and refuses one that nothing here has: `dataset` takes names or
        fingerprints, `session` kinds, keys or beginnings of keys. `since` is a date (UTC). `limit` keeps the newest.
        `folds` gives each score as an array of its values per fold.
        """
        wanted = RunFilter(dataset, algorithm, status, origin, session, since, limit)
        with reading(self._ours()) as connection:
            return frames.runs_frame(connection, wanted, folds=folds)

    def best(self, dataset: str, metric: str, n: int = 10) -> pd.DataFrame:
        """Return the n best complete runs on a data set (name or fingerprint) by a metric, best first."""
        with reading(self._ours()) as connection:
            return frames.best_frame(connection, dataset, metric, n)

    def run_counts(self) -> dict[tuple[str, str], int]:
        """Return the number of runs, whatever came of them, by data set (fingerprint) and algorithm."""
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
        with reading(self._ours()) as connection:
            return {(fingerprint, name): n for fingerprint, name, n in connection.execute(query)}

    def configs(self, dataset: str, algorithm: str) -> list[dict[str, Value]]:
        """Return the different configurations of an algorithm that were run on a data set (fingerprint)."""
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
        with reading(self._ours()) as connection:
            rows = connection.execute(query).fetchall()
        return [dict(zip(json.loads(keys), json.loads(values), strict=True)) for keys, values in rows]

    def sql(self, query: str, parameters: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return the answer to one SELECT; nothing can be written through it."""
        return read_sql(self._ours(), query, parameters)

    def predictions(self, run: str) -> np.ndarray:
        """Return the out-of-fold predictions of a run (its identity), one row per row of the data set."""
        table = tables.prediction
        query = (
            select(table.c.n_rows, table.c.n_columns, table.c.data)
            .join(tables.run, tables.run.c.id == table.c.run_id)
            .where(tables.run.c.identity == bytes.fromhex(run))
        )
        with reading(self._ours()) as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            raise BadQuery(f"Run {run} has no stored predictions. Choose one from: metaml kb runs")
        return unpack_predictions(*row)

    def key(self) -> str:
        """Return what tells this knowledge base from any other, also from one that takes its place; copies share it."""
        with reading(self._ours()) as connection:
            return str(connection.execute(select(tables.knowledge_base.c.key)).scalar_one())

    def revision(self) -> str:
        """Return a text that changes whenever something is added."""
        table = tables.knowledge_base
        with reading(self._ours()) as connection:
            key, number = connection.execute(select(table.c.key, table.c.revision)).one()
        return f"{key}-{number}"

    def info(self) -> dict[str, Any]:
        """Return what there is: counts, algorithms, metrics, sessions, and what of it came with a starter."""
        with reading(self._ours()) as connection:
            return frames.summary(connection, self.name, schema.HEAD) | counts_by_source(connection)

    def schema(self) -> pd.DataFrame:
        """Return the tables and views with their columns, for writing SQL."""
        with reading(self._ours()) as connection:
            inspector = inspect(connection)
            rows = [
                (kind, name, column["name"], str(column["type"]))
                for kind, names in (("table", inspector.get_table_names()), ("view", inspector.get_view_names()))
                for name in sorted(names)
                if name != "alembic_version"
                for column in inspector.get_columns(name)
            ]
        return pd.DataFrame(rows, columns=["kind", "name", "column", "type"])
