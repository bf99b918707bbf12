"""`Reader`: what can be asked of a knowledge base, as data frames and plain values."""

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Engine

from metaml_kb import frames, history, schema
from metaml_kb.browsing.comparison import compare_sessions
from metaml_kb.engine import display_name, reading
from metaml_kb.eventlog import read_events
from metaml_kb.filters import Names, RunFilter
from metaml_kb.provenance import counts_by_source
from metaml_kb.query import MOST_MEGABYTES, TIMEOUT_SECONDS, read_sql
from metaml_kb.records import Value

P = ParamSpec("P")
T = TypeVar("T")


class Reader:
    """Reads a knowledge base; `KnowledgeBase` adds what writes. Each method sees one consistent state."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._process = os.getpid()

    @property
    def name(self) -> str:
        """The path or URL, without a password.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     kb.name
        'the knowledge base in memory'
        """
        return display_name(self.engine.url)

    def _ours(self) -> Engine:
        """Return the engine. In a forked process, drop the parent's connections first: they must not be shared."""
        if os.getpid() != self._process:
            self.engine.dispose(close=False)
            self._process = os.getpid()
        return self.engine

    def _ask(self, question: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        """Return what a function of a connection answers. It sees one consistent state."""
        with reading(self._ours()) as connection:
            return question(connection, *args, **options)

    def datasets(self) -> pd.DataFrame:
        """Return one row per data set, by name: task, size, number of runs, target, source and fingerprint.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     kb.datasets()[["name", "task", "n_rows", "n_runs"]]
           name        task  n_rows  n_runs
        0  iris  multiclass     150       0
        """
        return self._ask(history.datasets)

    def dataset_details(self, task: str, target: str) -> pd.DataFrame:
        """Return the data sets with this `task` and `target`, newest first.

        The columns are fingerprint, n_classes, details (a dict) and n_complete, the number of complete runs.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     kb.dataset_details("multiclass", "species")["n_complete"].tolist()
        [0]
        """
        return self._ask(history.dataset_details, task, target)

    def metafeatures(self, *, source: str | None = None) -> pd.DataFrame:
        """Return one row per data set (index: fingerprint) and one column per metafeature; NaN where unknown.

        `source` limits it to the values of one source. Otherwise OpenML's value is preferred if several have one.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     kb.add_metafeatures("f" * 32, {"NumberOfClasses": 3.0})
        ...     kb.metafeatures()["NumberOfClasses"].tolist()
        [3.0]
        """
        return self._ask(history.metafeatures, source)

    def metafeature_values(self, fingerprint: str) -> dict[str, float]:
        """Return the metafeatures of the data set with this `fingerprint` by name.

        An undefined one is NaN. The answer is empty if the data set is unknown.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     kb.add_metafeatures("f" * 32, {"NumberOfClasses": 3.0})
        ...     kb.metafeature_values("f" * 32)
        {'NumberOfClasses': 3.0}
        """
        return self._ask(history.metafeature_values, fingerprint)

    def is_described(self, fingerprint: str, *, unless_reason: str) -> bool:
        """Return whether metafeatures of a data set are stored and none is undefined for one reason.

        `fingerprint` identifies the data set; `unless_reason` is the reason, such as "out of time".

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris"))
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
        source: str | None = None,
        user: str | None = None,
        project: str | None = None,
        folds: bool = False,
    ) -> pd.DataFrame:
        """Return one row per run, oldest first; hyperparameters, scores and seconds are columns.

        Each of the first five filters takes one name or several.

        - `dataset`: names or fingerprints.
        - `algorithm`, `status`, `origin`: as stored in `Run`.
        - `session`: kinds, keys, or the beginnings of keys.
        - `since`: runs that finished then or later: a datetime, an ISO 8601 text (UTC), an age such as "7d", or seconds
          since 1970.
        - `source`: "mine" leaves out the runs that came with metaml, "starter" keeps only these.
        - `user`, `project`: those of a session, as it was started with them.
        - `limit`: only the newest runs, at most this many.
        - `folds`: give each score as an array of its values per fold, instead of the mean.

        An inactive hyperparameter is NaN; one whose value is None is None. A hyperparameter with the name of another
        column is called `config.<name>`. `frame.attrs["metrics"]` lists the columns that are scores. The columns depend
        only on `algorithm`: what no selected run has is a column of NaN.

        Raises `BadQuery` if a filter names something that is not in the knowledge base, or `since` is not a date.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     run = metaml_kb.Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, scores={"accuracy": [0.9, 1]})
        ...     added = kb.add_run(run)
        ...     kb.runs(dataset="iris")[["algorithm", "C", "accuracy"]]
          algorithm    C  accuracy
        0       svm  1.0      0.95
        """
        wanted = RunFilter(dataset, algorithm, status, origin, session, since, limit, source, user, project)
        return self._ask(frames.runs_frame, wanted, folds=folds)

    def best(self, dataset: str, metric: str, n: int = 10) -> pd.DataFrame:
        """Return the `n` best complete runs on a data set, best first, with the columns of `runs`.

        `dataset` is a name or fingerprint, `metric` a stored name; `log_loss` also finds `neg_log_loss`. Raises
        `BadQuery` if there is no such data set or metric.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     run = metaml_kb.Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, scores={"accuracy": [0.9, 1]})
        ...     added = kb.add_run(run)
        ...     kb.best("iris", "accuracy", n=1)[["algorithm", "accuracy"]]
          algorithm  accuracy
        0       svm      0.95
        """
        return self._ask(frames.best_frame, dataset, metric, n)

    def n_runs(self) -> int:
        """Return the number of runs, failed ones included.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     kb.n_runs()
        0
        """
        return self._ask(history.n_runs)

    def run_counts(self) -> dict[tuple[str, str], int]:
        """Return the number of runs by data set (fingerprint) and algorithm, failed ones included.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     added = kb.add_run(metaml_kb.Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, fit_seconds=0.2))
        ...     list(kb.run_counts().values())
        [1]
        """
        return self._ask(history.run_counts)

    def has_algorithm(self, name: str) -> bool:
        """Return whether a run of the algorithm called `name` was ever stored.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     kb.has_algorithm("svm")
        False
        """
        return self._ask(history.has_algorithm, name)

    def configs(self, dataset: str, algorithm: str) -> list[dict[str, Value]]:
        """Return the distinct configurations of an `algorithm` that were run on a `dataset` (fingerprint).

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     added = kb.add_run(metaml_kb.Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, fit_seconds=0.2))
        ...     kb.configs("f" * 32, "svm")
        [{'C': 1.0}]
        """
        return self._ask(history.configs, dataset, algorithm)

    def recent_seconds(self, limit: int) -> pd.DataFrame:
        """Return at most `limit` runs, the newest, on data sets of known size.

        The columns are fingerprint, algorithm, n_rows and seconds (to fit and to predict, all folds).

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     added = kb.add_run(metaml_kb.Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, fit_seconds=0.2))
        ...     len(kb.recent_seconds(10))
        1
        """
        return self._ask(history.recent_seconds, limit)

    def sessions(self, kind: str | None = None, *, unfinished: bool = False) -> pd.DataFrame:
        """Return one row per session, newest first, with its `user`, `project` and number of runs.

        `kind` limits it to one kind, `unfinished` to those that still run or were cut short. Times are seconds since
        1970; `finished_at` is NaN where there is no end. `metric` and `score` are those of the final model of `tune`.
        `settings` is a dict.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     key = kb.start_session("tune", settings={"metric": "roc_auc"})
        ...     kb.sessions("tune", unfinished=True)["settings"].tolist()
        [{'metric': 'roc_auc'}]
        """
        return self._ask(history.sessions, kind, unfinished=unfinished)

    def compare(self, a: str, b: str, *, metric: str | None = None) -> pd.DataFrame:
        """Return the best score of each algorithm in two sessions, side by side, and those of their final models.

        `a` and `b` are keys of sessions or their beginnings, `metric` is by default that of the sessions' models. There
        is a row for each data set, fold plan and algorithm, the largest `difference` (b less a) first. Raises
        `BadQuery` if a session does not exist, or a metric must be named.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     a, b = kb.start_session("tune"), kb.start_session("tune")
        ...     kb.compare(a, b, metric="accuracy").columns.tolist()[2:]
        ['algorithm', 'runs_a', 'best_a', 'runs_b', 'best_b', 'difference']
        """
        return self._ask(compare_sessions, a, b, metric)

    def has_session(self, kind: str) -> bool:
        """Return whether a session of this `kind` is stored.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     key = kb.start_session("tune")
        ...     kb.has_session("tune"), kb.has_session("bot")
        (True, False)
        """
        return self._ask(history.has_session, kind)

    def events(self, session: str, kind: str | None = None) -> list[tuple[str, dict[str, Any]]]:
        """Return the events of a `session` (key), oldest first, each as its kind and details; `kind` limits them.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     key = kb.start_session("tune")
        ...     number = kb.add_event(key, "asked", {"algorithm": "svm"})
        ...     kb.events(key)
        [('asked', {'algorithm': 'svm'})]
        """
        return self._ask(read_events, session, kind)

    def session_environments(self) -> pd.DataFrame:
        """Return where each session made runs: session (key), reference_seconds and versions (a dict).

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     kb.session_environments().columns.tolist()
        ['session', 'reference_seconds', 'versions']
        """
        return self._ask(history.session_environments)

    def fold_plans(self) -> pd.DataFrame:
        """Return one row per fold plan, oldest first: key, strategy, n_folds and max_rows; NA where unknown.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     kb.add_fold_plan(metaml_kb.FoldPlanRecord("p1", "stratified", n_folds=5))
        ...     kb.fold_plans()["n_folds"].tolist()
        [5]
        """
        return self._ask(history.fold_plans)

    def sql(
        self,
        query: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = TIMEOUT_SECONDS,
        limit_memory: float | None = MOST_MEGABYTES,
    ) -> pd.DataFrame:
        """Return the result of one SELECT statement, the `query`. It can only read.

        `:name` in the query is replaced by the value in `parameters`. `schema` lists the tables and columns. Raises
        `BadQuery` if the query is wrong or would write, takes more than `timeout` seconds, or makes this process grow
        by more than `limit_memory` megabytes; None is no limit.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     kb.sql("SELECT count(*) AS n FROM run WHERE seed = :seed", {"seed": 1})
           n
        0  0
        """
        return read_sql(self._ours(), query, parameters, timeout=timeout, limit_memory=limit_memory)

    def predictions(self, run: str) -> np.ndarray:
        """Return the out-of-fold predictions of a `run` (its whole identity, as in `runs`).

        The array has one row per row of the data set, and one column per class (one for regression). A row that was in
        no test fold is NaN. It is float64 if stored as float32, else float32. Raises `BadQuery` if none are stored.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris", "multiclass", "species", 150, 4, 3))
        ...     oof = np.full((150, 3), 1 / 3, dtype=np.float32)
        ...     run = metaml_kb.Run(dataset="f" * 32, algorithm="svm", config={}, predictions=oof)
        ...     added = kb.add_run(run)
        ...     kb.predictions(run.identity).shape
        (150, 3)
        """
        return self._ask(history.predictions, run)

    def key(self) -> str:
        """Return the random key that this knowledge base got when it was created. Copies have the same key.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     len(kb.key())
        32
        """
        return self._ask(history.key_and_revision)[0]

    def revision(self) -> str:
        """Return a text that changes whenever runs, data sets or metafeatures are added. Use it to check caches.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     before = kb.revision()
        ...     is_new = kb.add_dataset(metaml_kb.DatasetRecord("f" * 32, "iris"))
        ...     kb.revision() == before
        False
        """
        key, number = self._ask(history.key_and_revision)
        return f"{key}-{number}"

    def info(self) -> dict[str, Any]:
        """Return a summary: counts, algorithms, metrics, sessions, and how much came with the starter.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     kb.info()["runs"]
        0
        """
        with reading(self._ours()) as connection:
            return frames.summary(connection, self.name, schema.HEAD) | counts_by_source(connection)

    def schema(self) -> pd.DataFrame:
        """Return one row per column of each table and view, for writing SQL.

        >>> import metaml_kb
        >>> with metaml_kb.open_kb(":memory:") as kb:
        ...     set(kb.schema()["name"]) >= {"run", "dataset"}
        True
        """
        return self._ask(history.schema)
