"""What all runs amount to: counts, and the best by data set. New runs are added to it, so that no page reads them all.

Runs are never changed or removed, and their row numbers grow. So a digest of the runs up to some number stays true, and
only those after it must be read.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from metaml_kb import tables
from metaml_kb.columns import decode
from metaml_kb.words import names_of

CHUNK = 20_000
BLOCK = 1024
"""Runs are looked for in blocks of so many row numbers; the digest knows which blocks hold what."""
MOST_BEST = 100
"""How many of the best runs are kept for each data set and metric."""
MOST_FIRST = 20
"""How many scores of runs that no search proposed are kept for each data set, metric and algorithm."""
UNBIASED = ("default", "random", "imported", "grid")


@dataclass
class Span:
    """How many runs a session has, the row numbers between which they are, and their seconds."""

    n_runs: int = 0
    first: int = 0
    last: int = 0
    seconds: float = 0.0


@dataclass
class Digest:
    """Counts and best runs of all runs up to row number `last`; names are row numbers of their tables.

    - `counts`: runs by data set, algorithm and status. `origins`: runs by origin. `seconds`: by data set and algorithm.
    - `spans`: by session. `newest`: when the newest run of each data set finished.
    - `best`: for each data set and metric, the best complete run of each algorithm: its score and row number.
    - `top`: for each data set and metric, the best complete runs: scores (falling) and row numbers.
    - `first`: for each data set, metric and algorithm, the scores of the first complete runs that no search proposed.
    - `blocks`: for each kind of word and each word, the blocks of row numbers that have it.
    """

    last: int = 0
    counts: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    origins: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))
    spans: dict[int, Span] = field(default_factory=dict)
    newest: dict[int, float] = field(default_factory=dict)
    best: dict[tuple[int, str], dict[int, tuple[float, int]]] = field(default_factory=dict)
    top: dict[tuple[int, str], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    first: dict[tuple[int, str, int], list[float]] = field(default_factory=dict)
    blocks: dict[str, dict[Any, list[int]]] = field(default_factory=dict)

    @property
    def n_runs(self) -> int:
        """Return the number of runs."""
        return sum(self.counts.values())

    def catch_up(self, connection: Connection, seconds: float | None = None) -> bool:
        """Read the runs that were added since, for so many seconds; return whether all are read."""
        begun = time.monotonic()
        newest = int(connection.execute(select(func.coalesce(func.max(tables.run.c.id), 0))).scalar_one())
        names = {number: json.loads(text) for number, text in names_of(connection, tables.metric_set, "names").items()}
        while self.last < newest:
            rows = connection.execute(_rows_after(self.last, min(newest, self.last + CHUNK))).fetchall()
            self._add(rows, names)
            self.last = min(newest, self.last + CHUNK)
            if seconds is not None and time.monotonic() - begun > seconds:
                break
        return self.last >= newest

    def _add(self, rows: Sequence[Any], names: dict[int, list[str]]) -> None:
        if not rows:
            return
        number, dataset, algorithm, status, origin, session, seconds, finished, metric_set, scores = zip(
            *rows, strict=True
        )
        self.counts.update(zip(dataset, algorithm, status, strict=True))
        self.origins.update(origin)
        for pair, spent in zip(zip(dataset, algorithm, strict=True), seconds, strict=True):
            self.seconds[pair] += spent
        for owner, place, spent in zip(session, number, seconds, strict=True):
            if owner is not None:
                span = self.spans.setdefault(owner, Span(first=place))
                span.n_runs, span.last, span.seconds = span.n_runs + 1, place, span.seconds + spent
        for owner, moment in zip(dataset, finished, strict=True):
            if moment is not None and moment > self.newest.get(owner, 0.0):
                self.newest[owner] = moment
        for kind, words in (("status", status), ("origin", origin), ("algorithm", algorithm)):
            self._note_blocks(kind, words, number)
        numbers, datasets, algorithms = np.array(number), np.array(dataset), np.array(algorithm)
        sets, is_ok = np.array(metric_set), np.array(status) == "ok"
        is_fair = np.isin(np.array(origin), UNBIASED)
        for owner in np.unique(sets[is_ok]):
            places = np.flatnonzero(is_ok & (sets == owner))
            metrics = names[int(owner)]
            columns = decode("\n".join([scores[place] for place in places]).encode(), len(places), len(metrics))
            for metric, column in zip(metrics, columns, strict=True):
                values = np.asarray(column, dtype=np.float64)
                known = np.isfinite(values)
                chosen = places[known]
                self._rank(metric, values[known], numbers[chosen], datasets[chosen], algorithms[chosen])
                fair = is_fair[chosen]
                self._keep_first(metric, values[known][fair], datasets[chosen][fair], algorithms[chosen][fair])

    def _note_blocks(self, kind: str, words: tuple[Any, ...], numbers: tuple[int, ...]) -> None:
        known = self.blocks.setdefault(kind, {})
        for word, block in dict.fromkeys(zip(words, (number // BLOCK for number in numbers), strict=True)):
            found = known.setdefault(word, [])
            if not found or found[-1] != block:
                found.append(block)

    def _keep_first(self, metric: str, values: np.ndarray, datasets: np.ndarray, algorithms: np.ndarray) -> None:
        if not len(values):
            return
        order = np.lexsort((algorithms, datasets))
        starts = np.flatnonzero(
            np.diff(datasets[order] * (algorithms.max(initial=0) + 1) + algorithms[order], prepend=-1)
        )
        for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
            mine = order[start:end]
            kept = self.first.setdefault((int(datasets[mine[0]]), metric, int(algorithms[mine[0]])), [])
            if len(kept) < MOST_FIRST:
                kept += values[mine[: MOST_FIRST - len(kept)]].tolist()

    def _rank(
        self, metric: str, values: np.ndarray, numbers: np.ndarray, datasets: np.ndarray, algorithms: np.ndarray
    ) -> None:
        """Keep what is among the best of its data set, and the best of each algorithm there; the earlier of equals."""
        order = np.lexsort((numbers, -values, datasets))
        starts = np.flatnonzero(np.diff(datasets[order], prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
            mine = order[start:end]
            key = (int(datasets[mine[0]]), metric)
            best = self.best.setdefault(key, {})
            for place in mine[np.unique(algorithms[mine], return_index=True)[1]]:
                name, value = int(algorithms[place]), float(values[place])
                if name not in best or value > best[name][0]:
                    best[name] = (value, int(numbers[place]))
            few = mine[:MOST_BEST]
            before = self.top.get(key, (np.array([]), np.array([], dtype=np.int64)))
            all_values, all_numbers = np.r_[before[0], values[few]], np.r_[before[1], numbers[few]]
            kept = np.lexsort((all_numbers, -all_values))[:MOST_BEST]
            self.top[key] = (all_values[kept], all_numbers[kept])


def _rows_after(first: int, last: int) -> Any:
    run = tables.run
    seconds = func.coalesce(run.c.fit_seconds, 0.0) + func.coalesce(run.c.predict_seconds, 0.0)
    columns = [run.c[name] for name in ("id", "dataset_id", "algorithm_id", "status", "origin", "session_id")]
    return (
        select(*columns, seconds, run.c.finished_at, run.c.metric_set_id, run.c.score_list)
        .where(run.c.id > first, run.c.id <= last)
        .order_by(run.c.id)
    )
