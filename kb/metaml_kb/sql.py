"""`open_kb` and `KnowledgeBase`: add runs, and ask for them as data frames."""

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any, Self

import pandas as pd
from sqlalchemy import update

from metaml_kb import dimensions, schema, tables, writing
from metaml_kb.engine import locate, make_engine
from metaml_kb.engine import writing as write_transaction
from metaml_kb.eventlog import append_events
from metaml_kb.reader import Reader
from metaml_kb.records import FINAL, DatasetRecord, EnvironmentRecord, Event, FoldPlanRecord, Run, SessionRecord
from metaml_kb.writing import Added

CHUNK = 5_000


def open_kb(path_or_url: str | Path | None = None, *, create: bool = True) -> "KnowledgeBase":
    """Return an open knowledge base; create it if it is missing.

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


class KnowledgeBase(Reader):
    """All runs, in one database. Runs are added, never changed or removed.

    Get one from `open_kb`. Use it in a `with` block, or call `close`. Several processes can share one knowledge base:
    each method reads one consistent state, and writers wait for one another. `engine` is SQLAlchemy's, `name` the path
    or URL without a password. Every error is a `metaml_kb.errors.KBError`.

    >>> from metaml_kb import DatasetRecord, Run, open_kb
    >>> with open_kb(":memory:") as kb:
    ...     is_new = kb.add_dataset(DatasetRecord("f" * 32, "iris"))
    ...     added = kb.add_run(Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, scores={"accuracy": 0.96}))
    ...     kb.best("iris", "accuracy")[["algorithm", "C", "accuracy"]]
      algorithm    C  accuracy
    0       svm  1.0      0.96
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.name!r})"

    def _repr_html_(self) -> str:
        facts = self.info()
        shown = {name: facts[name] for name in ("runs", "runs_by_source", "datasets", "runs_by_algorithm", "metrics")}
        table = pd.DataFrame({"": [str(value) for value in shown.values()]}, index=list(shown))
        return f"<p>{escape(repr(self))}</p>{table.to_html(escape=True)}"

    def close(self) -> None:
        """Close all connections. A `with` block does it for you.

        >>> kb = open_kb(":memory:")
        >>> kb.close()
        """
        self.engine.dispose()

    # Adding

    def add_dataset(self, record: DatasetRecord) -> bool:
        """Store a data set unless its fingerprint is known; return whether it was new.

        `record` describes it. A known data set stays as it is. Only its task is filled in, if it was unknown.

        >>> with open_kb(":memory:") as kb:
        ...     [kb.add_dataset(DatasetRecord("f" * 32, "iris")) for _ in range(2)]
        [True, False]
        """
        with write_transaction(self._ours()) as connection:
            return dimensions.add_dataset(connection, record)

    def add_run(self, run: Run, *, events: Sequence[Event] = ()) -> Added:
        """Store one `run` and return whether it was new. When this returns, the run is on the disk.

        A run with a known identity stays as it is; another score is returned as a clash. `events` (kind and details)
        are appended to the log of the run's session in the same transaction: either all is stored, or nothing.

        Raises `BadRecord` if the data set, session or environment is not stored yet, or the run cannot be stored as
        given.

        >>> with open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        ...     kb.add_run(Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, scores={"accuracy": 0.96}))
        Added(n_new=1, n_known=0, clashes=())
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
        """Store a fold plan (`record`) unless its key is known.

        >>> with open_kb(":memory:") as kb:
        ...     kb.add_fold_plan(FoldPlanRecord("p1", "stratified", n_folds=5))
        ...     kb.fold_plans()["key"].tolist()
        ['p1']
        """
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.fold_plan, asdict(record))

    def add_environment(self, record: EnvironmentRecord) -> str:
        """Store an environment (`record`) unless it is known; return its key, for `Run.environment`.

        >>> with open_kb(":memory:") as kb:
        ...     len(kb.add_environment(EnvironmentRecord({"scikit-learn": "1.8.0"}, host="laptop")))
        32
        """
        row = asdict(record) | {"key": record.key, "versions": dimensions.to_json(record.versions)}
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.environment, row)
        return record.key

    def add_session(self, record: SessionRecord) -> None:
        """Store a session (`record`) unless its key is known. `start_session` makes the key for you.

        >>> with open_kb(":memory:") as kb:
        ...     kb.add_session(SessionRecord("s1", "import", started_at=0.0))
        ...     kb.has_session("import")
        True
        """
        row = asdict(record) | {"settings": dimensions.to_json(record.settings)}
        with write_transaction(self._ours()) as connection:
            dimensions.add_keyed(connection, tables.session, row)

    def start_session(self, kind: str, *, seed: int | None = None, settings: Mapping[str, Any] | None = None) -> str:
        """Store a new session that starts now and return its key, for `Run.session`.

        `kind` is bot, tune, import, or a word of your own. `seed` and `settings` are what it was started with; a value
        that JSON does not know is stored as text.

        >>> with open_kb(":memory:") as kb:
        ...     key = kb.start_session("tune", seed=1, settings={"metric": "roc_auc"})
        ...     kb.finish_session(key)
        """
        key = uuid.uuid4().hex
        self.add_session(SessionRecord(key, kind, time.time(), seed=seed, settings=settings or {}))
        return key

    def finish_session(self, key: str, *, final: Mapping[str, Any] | None = None) -> None:
        """Store that the session with this `key` ends now; `final` is the `metric` and `score` of its model, if any.

        >>> with open_kb(":memory:") as kb:
        ...     kb.finish_session(kb.start_session("tune"))
        ...     len(kb.sessions(unfinished=True))
        0
        """
        with write_transaction(self._ours()) as connection:
            table = tables.session
            if final is not None:
                dimensions.add_to_settings(connection, key, {FINAL: dict(final)})
            connection.execute(update(table).where(table.c.key == key).values(finished_at=time.time()))

    def add_event(self, session: str, kind: str, details: Mapping[str, Any]) -> int:
        """Append one event to the log of a `session` (key) and return its number; the first is 1.

        `kind` says in a word or two what happened, `details` the rest, as JSON values. Raises `BadRecord` if there is
        no such session.

        >>> with open_kb(":memory:") as kb:
        ...     kb.add_event(kb.start_session("tune"), "asked", {"algorithm": "svm"})
        1
        """
        return self.add_events(session, [(kind, details)])

    def add_events(self, session: str, events: Sequence[Event]) -> int:
        """Append `events` (kind and details) to the log of a `session` (key); return the number of the last one.

        All are stored in one transaction. Raises `BadRecord` if there is no such session.

        >>> with open_kb(":memory:") as kb:
        ...     kb.add_events(kb.start_session("tune"), [("asked", {"algorithm": "svm"}), ("finished", {})])
        2
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

        >>> with open_kb(":memory:") as kb:
        ...     is_new = kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        ...     kb.add_metafeatures("f" * 32, {"NumberOfClasses": 3.0}, seconds={"simple": 0.01})
        ...     kb.metafeature_values("f" * 32)
        {'NumberOfClasses': 3.0}
        """
        with write_transaction(self._ours()) as connection:
            dimensions.add_metafeatures(
                connection, dataset, values, source=source, reasons=reasons, seconds=seconds, n_rows=n_rows
            )
