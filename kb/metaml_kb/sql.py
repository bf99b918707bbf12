"""`open_kb` and `KnowledgeBase`: add runs, and ask for them as data frames."""

import os
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine, update

from metaml_kb import dimensions, frames, history, schema, tables, writing
from metaml_kb.engine import display_name, locate, make_engine, reading
from metaml_kb.engine import writing as write_transaction
from metaml_kb.eventlog import append_events, read_events
from metaml_kb.filters import Names, RunFilter
from metaml_kb.provenance import counts_by_source
from metaml_kb.query import MOST_MEGABYTES, TIMEOUT_SECONDS, read_sql
from metaml_kb.records import DatasetRecord, EnvironmentRecord, Event, FoldPlanRecord, Run, SessionRecord, Value
from metaml_kb.writing import Added

CHUNK = 5_000
P = ParamSpec("P")
T = TypeVar("T")


def open_kb(path_or_url: str | Path | None = None, *, create: bool = True) -> "KnowledgeBase":
    """Open a knowledge base, or create it.

    - `path_or_url`: a SQLite file, a database URL such as postgresql://user@host/name, or ":memory:" for one that is
      gone when it is closed. Default: the environment variable METAML_KB, else a file in the user's data folder.
    - `create`: create a missing one. If False, a missing one raises `CannotOpen`.

    Raises `CannotOpen` if it cannot be read or is not a knowledge base, and `SchemaMismatch` if another version of
    metaml wrote it.

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
    """All runs, in one database. Runs are added, never changed or removed.

    Get one from `open_kb`. Use it in a `with` block, or call `close`. Several processes can share one knowledge base:
    each method reads one consistent state, and writers wait for one another. Every error is a
    `metaml_kb.errors.KBError`.

    >>> from metaml_kb import DatasetRecord, Run, open_kb
    >>> with open_kb(":memory:") as kb:
    ...     is_new = kb.add_dataset(DatasetRecord("f" * 32, "iris"))
    ...     added = kb.add_run(Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, scores={"accuracy": 0.96}))
    ...     kb.best("iris", "accuracy")[["algorithm", "C", "accuracy"]]
      algorithm    C  accuracy
    0       svm  1.0      0.96
    """

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
        """The path or URL, without a password."""
        return display_name(self.engine.url)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _ours(self) -> Engine:
        """Return the engine. In a forked process, drop the parent's connections first: they must not be shared."""
        if os.getpid() != self._process:
            self.engine.dispose(close=False)
            self._process = os.getpid()
        return self.engine

    # Adding

    def add_dataset(self, record: DatasetRecord) -> bool:
        """Store a data set unless its fingerprint is known; return whether it was new.

        A known data set stays as it is. Only its task is filled in, if it was unknown.

        >>> with open_kb(":memory:") as kb:
        ...     [kb.add_dataset(DatasetRecord("f" * 32, "iris")) for _ in range(2)]
        [True, False]
        """
        with write_transaction(self._ours()) as connection:
            return dimensions.add_dataset(connection, record)

    def add_run(self, run: Run, *, events: Sequence[Event] = ()) -> Added:
        """Store one run and return whether it was new. When this returns, the run is on the disk.

        A run with a known identity stays as it is; another score is returned as a clash. `events` (kind and details)
        are appended to the log of the run's session in the same transaction: either all is stored, or nothing.

        Raises `BadRecord` if the data set, session or environment is not stored yet, or the run cannot be stored as
        given.
        """
        with write_transaction(self._ours()) as connection:
            added = writing.add_chunk(connection, [run])
            if events:
                append_events(connection, run.session or "", events)
        return added

    def add_runs(self, runs: Iterable[Run], *, chunk: int = CHUNK) -> Added:
        """Store many runs and return how many were new, how many were known, and which scores clash.

        `runs` may be a generator: memory holds only `chunk` runs at a time. Each chunk is one transaction. If a chunk
        raises `BadRecord`, nothing of it is stored; earlier chunks are.

        >>> from metaml_kb import Run
        >>> with open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        ...     kb.add_runs(Run(dataset="f" * 32, algorithm="svm", config={"C": 2.0**n}) for n in range(3)).n_new
        3
        """
        total = Added()
        for part in writing.chunks(runs, chunk):
            with write_transaction(self._ours()) as connection:
                total += writing.add_chunk(connection, part)
        return total

    def add_fold_plan(self, record: FoldPlanRecord) -> None:
        """Store a fold plan unless its key is known."""
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.fold_plan, asdict(record))

    def add_environment(self, record: EnvironmentRecord) -> str:
        """Store an environment unless it is known; return its key, for `Run.environment`."""
        row = asdict(record) | {"key": record.key, "versions": dimensions.to_json(record.versions)}
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.environment, row)
        return record.key

    def add_session(self, record: SessionRecord) -> None:
        """Store a session unless its key is known. `start_session` makes the key for you."""
        row = asdict(record) | {"settings": dimensions.to_json(record.settings)}
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.session, row)

    def start_session(self, kind: str, *, seed: int | None = None, settings: Mapping[str, Any] | None = None) -> str:
        """Store a new session that starts now and return its key, for `Run.session`.

        `kind` is bot, tune, import, or a word of your own. Settings that JSON does not know are stored as text.

        >>> with open_kb(":memory:") as kb:
        ...     key = kb.start_session("tune", seed=1, settings={"metric": "roc_auc"})
        ...     kb.finish_session(key)
        """
        key = uuid.uuid4().hex
        self.add_session(SessionRecord(key, kind, time.time(), seed=seed, settings=settings or {}))
        return key

    def finish_session(self, key: str) -> None:
        """Store that a session ends now."""
        with write_transaction(self._ours()) as connection:
            table = tables.session
            connection.execute(update(table).where(table.c.key == key).values(finished_at=time.time()))

    def add_event(self, session: str, kind: str, details: Mapping[str, Any]) -> int:
        """Append one event to a session's log, as `add_events` does, and return its number; the first is 1."""
        return self.add_events(session, [(kind, details)])

    def add_events(self, session: str, events: Sequence[Event]) -> int:
        """Append events (kind and details) to a session's log in one transaction; return the number of the last one.

        Raises `BadRecord` if there is no such session.
        """
        with write_transaction(self._ours()) as connection:
            return append_events(connection, session, events)

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
        """Store metafeatures of a data set. A known value stays, unless it was undefined.

        - `dataset`: its fingerprint.
        - `values`: the metafeatures by name; NaN is undefined.
        - `source`: who measured them. Values of different sources are stored side by side.
        - `reasons`: why a value is undefined, by name.
        - `seconds`, `n_rows`: what each group of metafeatures cost, and the rows it was measured on, by name of the
          group.

        Raises `BadRecord` if there is no such data set.
        """
        with write_transaction(self._ours()) as connection:
            dimensions.add_metafeatures(
                connection, dataset, values, source=source, reasons=reasons, seconds=seconds, n_rows=n_rows
            )

    # Asking

    def _ask(self, question: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Return what a function of a connection answers. It sees one consistent state."""
        with reading(self._ours()) as connection:
            return question(connection, *args, **options)

    def datasets(self) -> pd.DataFrame:
        """Return one row per data set, by name: task, size, number of runs, target, source and fingerprint."""
        return self._ask(history.datasets)

    def dataset_details(self, task: str, target: str) -> pd.DataFrame:
        """Return the data sets with this target, newest first: fingerprint, n_classes, details and complete runs."""
        return self._ask(history.dataset_details, task, target)

    def metafeatures(self, *, source: str | None = None) -> pd.DataFrame:
        """Return one row per data set (index: fingerprint) and one column per metafeature; NaN where unknown.

        `source` limits it to the values of one source. Otherwise OpenML's value is preferred if several have one.
        """
        return self._ask(history.metafeatures, source)

    def metafeature_values(self, fingerprint: str) -> dict[str, float]:
        """Return the metafeatures of one data set by name; NaN where undefined, empty if the data set is unknown."""
        return self._ask(history.metafeature_values, fingerprint)

    def is_described(self, fingerprint: str, *, unless_reason: str) -> bool:
        """Return whether metafeatures of a data set are stored and none is undefined for this reason.

        >>> with open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        ...     kb.add_metafeatures("f" * 32, {"Skewness": float("nan")}, reasons={"Skewness": "out of time"})
        ...     kb.is_described("f" * 32, unless_reason="out of time")
        False
        """
        return self._ask(history.is_described, fingerprint, unless_reason)

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
        """Return one row per run, oldest first; hyperparameters, scores and seconds are columns.

        Each of the first five filters takes one name or several.

        - `dataset`: names or fingerprints.
        - `algorithm`, `status`, `origin`: as stored in `Run`.
        - `session`: kinds, keys, or the beginnings of keys.
        - `since`: runs that finished then or later: a datetime, an ISO 8601 text (UTC), or seconds since 1970.
        - `limit`: only the newest runs, at most this many.
        - `folds`: give each score as an array of its values per fold, instead of the mean.

        An inactive hyperparameter is NaN; one whose value is None is None. A hyperparameter with the name of another
        column is called `config.<name>`. `frame.attrs["metrics"]` lists the columns that are scores.

        Raises `BadQuery` if a filter names something that is not in the knowledge base, or `since` is not a date.
        """
        wanted = RunFilter(dataset, algorithm, status, origin, session, since, limit)
        return self._ask(frames.runs_frame, wanted, folds=folds)

    def best(self, dataset: str, metric: str, n: int = 10) -> pd.DataFrame:
        """Return the `n` best complete runs on a data set, best first, with the columns of `runs`.

        `dataset` is a name or fingerprint, `metric` a stored name; `log_loss` also finds `neg_log_loss`. Raises
        `BadQuery` if there is no such data set or metric.
        """
        return self._ask(frames.best_frame, dataset, metric, n)

    def n_runs(self) -> int:
        """Return the number of runs, failed ones included."""
        return self._ask(history.n_runs)

    def run_counts(self) -> dict[tuple[str, str], int]:
        """Return the number of runs by data set (fingerprint) and algorithm, failed ones included."""
        return self._ask(history.run_counts)

    def has_algorithm(self, name: str) -> bool:
        """Return whether a run of this algorithm was ever stored."""
        return self._ask(history.has_algorithm, name)

    def configs(self, dataset: str, algorithm: str) -> list[dict[str, Value]]:
        """Return the distinct configurations of an algorithm that were run on a data set (fingerprint)."""
        return self._ask(history.configs, dataset, algorithm)

    def recent_seconds(self, limit: int) -> pd.DataFrame:
        """Return the newest runs on data sets of known size: fingerprint, algorithm, n_rows and seconds."""
        return self._ask(history.recent_seconds, limit)

    def sessions(self, kind: str | None = None, *, unfinished: bool = False) -> pd.DataFrame:
        """Return one row per session, newest first: key, kind, seed, started_at, finished_at and settings (a dict).

        `kind` limits it to one kind, `unfinished` to those that still run or were cut short. Times are seconds since
        1970; `finished_at` is NaN where there is no end.

        >>> with open_kb(":memory:") as kb:
        ...     key = kb.start_session("tune", settings={"metric": "roc_auc"})
        ...     kb.sessions("tune", unfinished=True)["settings"].tolist()
        [{'metric': 'roc_auc'}]
        """
        return self._ask(history.sessions, kind, unfinished=unfinished)

    def has_session(self, kind: str) -> bool:
        """Return whether a session of this kind is stored."""
        return self._ask(history.has_session, kind)

    def events(self, session: str, kind: str | None = None) -> list[tuple[str, dict[str, Any]]]:
        """Return the events of a session (key), oldest first, each as its kind and details; `kind` limits them.

        >>> with open_kb(":memory:") as kb:
        ...     key = kb.start_session("tune")
        ...     number = kb.add_event(key, "asked", {"algorithm": "svm"})
        ...     kb.events(key)
        [('asked', {'algorithm': 'svm'})]
        """
        return self._ask(read_events, session, kind)

    def session_environments(self) -> pd.DataFrame:
        """Return where each session made runs: session (key), reference_seconds and versions (a dict)."""
        return self._ask(history.session_environments)

    def fold_plans(self) -> pd.DataFrame:
        """Return one row per fold plan, oldest first: key, strategy, n_folds and max_rows; NA where unknown."""
        return self._ask(history.fold_plans)

    def sql(
        self,
        query: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = TIMEOUT_SECONDS,
        limit_memory: float | None = MOST_MEGABYTES,
    ) -> pd.DataFrame:
        """Return the result of one SELECT statement. It can only read.

        `:name` in the query is replaced by the value in `parameters`. `schema` lists the tables and columns. Raises
        `BadQuery` if the query is wrong or would write, takes more than `timeout` seconds, or makes this process grow
        by more than `limit_memory` megabytes; None is no limit.

        >>> with open_kb(":memory:") as kb:
        ...     kb.sql("SELECT count(*) AS n FROM run WHERE seed = :seed", {"seed": 1})
           n
        0  0
        """
        return read_sql(self._ours(), query, parameters, timeout=timeout, limit_memory=limit_memory)

    def predictions(self, run: str) -> np.ndarray:
        """Return the out-of-fold predictions of a run (its whole identity, as in `runs`), as float32.

        The array has one row per row of the data set, and one column per class (one for regression). A row that was in
        no test fold is NaN. Raises `BadQuery` if none are stored.
        """
        return self._ask(history.predictions, run)

    def key(self) -> str:
        """Return the random key that this knowledge base got when it was created. Copies have the same key."""
        return self._ask(history.key_and_revision)[0]

    def revision(self) -> str:
        """Return a text that changes whenever runs, data sets or metafeatures are added. Use it to check caches."""
        key, number = self._ask(history.key_and_revision)
        return f"{key}-{number}"

    def info(self) -> dict[str, Any]:
        """Return a summary: counts, algorithms, metrics, sessions, and how much came with the starter."""
        with reading(self._ours()) as connection:
            return frames.summary(connection, self.name, schema.HEAD) | counts_by_source(connection)

    def schema(self) -> pd.DataFrame:
        """Return one row per column of each table and view, for writing SQL."""
        return self._ask(history.schema)
