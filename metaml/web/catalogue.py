"""What the pages ask the knowledge base: its digest, names and settings, kept until the knowledge base changes."""

import json
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import pandas as pd
from sqlalchemy import Connection, select

from metaml.evaluation.scoring import DEFAULT_METRICS
from metaml_kb import KnowledgeBase, tables
from metaml_kb.browsing.digest import Digest, Span
from metaml_kb.browsing.listing import ListedRun, runs_by_number
from metaml_kb.engine import reading
from metaml_kb.history import key_and_revision
from metaml_kb.provenance import STARTER
from metaml_kb.records import FINAL
from metaml_kb.words import names_of

MOST_KEPT = 64
CATCH_UP_SECONDS = 0.3
"""What a page may spend on runs that were added since the last one; the rest is read with the next page."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class KnownDataset:
    """A data set with what its runs amount to; `metric` is the one that it is judged by, empty without a score."""

    number: int
    fingerprint: str
    name: str
    task: str
    target: str | None
    n_rows: int | None
    n_columns: int | None
    n_classes: int | None
    source: str
    n_runs: int
    n_complete: int
    metric: str
    winner: str | None
    best: float | None
    newest: float | None


@dataclass(frozen=True, kw_only=True)
class KnownSession:
    """A session with the runs it made."""

    number: int
    key: str
    kind: str
    started_at: float
    finished_at: float | None
    seed: int | None
    settings: dict[str, Any]
    span: Span

    def word(self, name: str) -> str | None:
        """Return a word of its settings, such as `project`; None if there is none. Others may have stored anything."""
        value = self.settings.get(name)
        return value if isinstance(value, str) and value.strip() else None

    def amount(self, name: str) -> float | None:
        """Return a positive number of its settings, such as `seconds`; None if there is none."""
        value = self.settings.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
            return None
        return float(value)

    @property
    def final(self) -> tuple[str, float] | None:
        """Return the metric and the score of the model that it ended with; None if there is none."""
        found = self.settings.get(FINAL)
        metric, score = (found.get("metric"), found.get("score")) if isinstance(found, dict) else (None, None)
        return (metric, float(score)) if isinstance(metric, str) and isinstance(score, int | float) else None


class Catalogue:
    """A knowledge base as the pages see it. Several threads may ask at once; `allows_sql` lets them ask in SQL."""

    def __init__(self, kb: KnowledgeBase, *, allows_sql: bool = False) -> None:
        self.kb, self.allows_sql = kb, allows_sql
        self.digest = Digest()
        self.revision = ""
        self.is_complete = False
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Any] = OrderedDict()

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Yield a connection that sees one consistent state."""
        with reading(self.kb.engine) as connection:
            yield connection

    def catch_up(self, seconds: float | None = CATCH_UP_SECONDS) -> None:
        """Read what was added since, for at most this many seconds."""
        with self._lock, self.connected() as connection:
            key, number = key_and_revision(connection)
            if f"{key}-{number}" != self.revision or not self.is_complete:
                self.is_complete = self.digest.catch_up(connection, seconds)
                self.revision = f"{key}-{number}"
                if not self.is_complete:
                    self._kept.clear()

    def kept(self, name: str, compute: Callable[[], Answer]) -> Answer:
        """Return what a function answers, from before if nothing was added since."""
        key = (name, self.revision)
        if key in self._kept:
            return cast(Answer, self._kept[key])
        answer = compute()
        self._kept[key] = answer
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return answer

    def has_kept(self, name: str) -> bool:
        """Return whether an answer is there without computing it."""
        return (name, self.revision) in self._kept

    # Names

    def algorithms(self) -> dict[int, str]:
        """Return the names of the algorithms by row number."""
        return self.kept("algorithms", lambda: self._names(tables.algorithm))

    def _names(self, table: Any) -> dict[int, str]:
        with self.connected() as connection:
            return names_of(connection, table)

    def datasets(self) -> dict[int, KnownDataset]:
        """Return all data sets by row number."""
        return self.kept("datasets", self._datasets)

    def dataset(self, word: str) -> KnownDataset | None:
        """Return a data set by its fingerprint, or by a name that only one has; None if there is none."""
        known = self.datasets().values()
        exact = [item for item in known if item.fingerprint == word]
        named = exact or [item for item in known if item.name == word]
        return named[0] if len(named) == 1 else None

    def _datasets(self) -> dict[int, KnownDataset]:
        table, names = tables.dataset, self.algorithms()
        columns = ("name", "task", "target", "n_rows", "n_columns", "n_classes", "source")
        totals: Counter[int] = Counter()
        complete: Counter[int] = Counter()
        for (number, _, status), n in self.digest.counts.items():
            totals[number] += n
            complete[number] += n if status == "ok" else 0
        metrics = self.metrics()
        with self.connected() as connection:
            rows = connection.execute(select(table.c.id, table.c.fingerprint, *(table.c[name] for name in columns)))
            found = {}
            for number, fingerprint, *values in rows:
                fields = dict(zip(columns, values, strict=True))
                metric = metrics_of_task(metrics.get(number, ()), fields["task"])[:1]
                winners = self.digest.best.get((number, metric[0]), {}) if metric else {}
                best = max(winners.items(), key=lambda item: (item[1][0], -item[1][1]), default=None)
                found[number] = KnownDataset(
                    number=number,
                    fingerprint=fingerprint,
                    **fields,
                    n_runs=totals[number],
                    n_complete=complete[number],
                    metric=metric[0] if metric else "",
                    winner=None if best is None else names.get(best[0]),
                    best=None if best is None else best[1][0],
                    newest=self.digest.newest.get(number),
                )
        return found

    def metafeatures(self) -> pd.DataFrame:
        """Return the metafeatures: a row per data set (fingerprint)."""
        return self.kept("metafeatures", self.kb.metafeatures)

    def metrics(self) -> dict[int, list[str]]:
        """Return the metrics that complete runs on each data set have."""
        found: dict[int, list[str]] = {}
        for number, metric in self.digest.best:
            found.setdefault(number, []).append(metric)
        return found

    def sessions(self) -> dict[int, KnownSession]:
        """Return all sessions by row number, newest first. They are not kept: an end does not change the revision."""
        table = tables.session
        query = select(table).order_by(table.c.started_at.desc(), table.c.id.desc())
        with self.connected() as connection:
            rows = connection.execute(query).mappings().all()
        return {row["id"]: self._session(dict(row)) for row in rows}

    def session(self, beginning: str) -> KnownSession | None:
        """Return the only session whose key begins so; None if there is none, or several."""
        found = [item for item in self.sessions().values() if item.key.startswith(beginning)]
        return found[0] if len(found) == 1 and beginning else None

    def _session(self, row: dict[str, Any]) -> KnownSession:
        number = row.pop("id")
        found = json.loads(row.pop("settings"))
        settings = found if isinstance(found, dict) else {}
        return KnownSession(number=number, settings=settings, span=self.digest.spans.get(number, Span()), **row)

    def n_starter_runs(self) -> int:
        """Return how many runs came with the package."""
        return sum(item.span.n_runs for item in self.sessions().values() if item.kind == STARTER)

    def best_runs(self, dataset: KnownDataset, metric: str, limit: int) -> list[ListedRun]:
        """Return the best complete runs on a data set, best first."""
        _, numbers = self.digest.top.get((dataset.number, metric), ((), ()))
        with self.connected() as connection:
            return runs_by_number(connection, list(numbers[:limit]))

    def winners(self, dataset: KnownDataset, metric: str) -> list[tuple[str, float, int]]:
        """Return the best score of each algorithm on a data set with the number of its run, best first."""
        names, found = self.algorithms(), self.digest.best.get((dataset.number, metric), {})
        return sorted(
            ((names.get(number, "?"), score, run) for number, (score, run) in found.items()),
            key=lambda item: (-item[1], item[2]),
        )


def metrics_of_task(metrics: Sequence[str], task: str) -> list[str]:
    """Return metrics in the order in which a person wants them: what the task is judged by first."""
    usual = {str(name): metric for name, metric in DEFAULT_METRICS.items()}.get(task)
    return sorted(metrics, key=lambda name: (name != usual, name != "accuracy", name))
