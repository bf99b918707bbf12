"""What a bot would do, and how long it would take, judged by the runs that the knowledge base has."""

import statistics
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from metaml.budget import in_words
from metaml.errors import MetamlError
from metaml.random_bot.bot import BotSettings, Prepared, draws_of, folds_for
from metaml.sources.base import Source
from metaml_kb import KnowledgeBase

SHOWN_RUNS = 1000
"""How many runs are planned if neither --runs nor --time-budget is given."""
RECENT_RUNS = 20_000
"""How many of the newest runs the expected seconds are taken from."""


def plan_runs(kb: KnowledgeBase, sources: Sequence[Source], settings: BotSettings) -> tuple[pd.DataFrame, str]:
    """Return the planned runs per data set and algorithm with their expected seconds, and a summary in words."""
    prepared, set_aside = [], 0
    for source in sources:
        try:
            loaded = source.load()
        except MetamlError:
            set_aside += 1
            continue
        dataset = loaded.dataset
        plan = folds_for(loaded, settings)
        prepared.append(Prepared(dataset.fingerprint, dataset.name, dataset.task, len(dataset.y), plan))
    expected = _Expectation(kb, settings.limits.seconds)
    draws, planned, total, n_runs = draws_of(kb, prepared, settings), Counter[tuple[str, str]](), 0.0, 0
    known = kb.run_counts()
    seconds = settings.seconds or float("inf")
    most = settings.n_runs or (SHOWN_RUNS if settings.seconds is None else 100_000)
    while n_runs < most and total / settings.n_workers < seconds and (drawn := draws.next()) is not None:
        item, algorithm, _ = drawn
        planned[item.fingerprint, algorithm] += 1
        total += expected.seconds(item, algorithm)
        n_runs += 1
    items = {item.fingerprint: item for item in prepared}
    frame = pd.DataFrame(
        [
            (
                items[fingerprint].name,
                algorithm,
                known.get((fingerprint, algorithm), 0),
                n,
                round(expected.seconds(items[fingerprint], algorithm), 2),
            )
            for (fingerprint, algorithm), n in sorted(planned.items(), key=lambda pair: items[pair[0][0]].name)
        ],
        columns=["dataset", "algorithm", "known_runs", "planned_runs", "expected_seconds_each"],
    )
    words = in_words(total / settings.n_workers)
    basis = "from the runtimes in the knowledge base" if expected.has_history else "a guess: no runtimes are known yet"
    aside = f" {set_aside} data sets cannot be read and would be set aside." if set_aside else ""
    return frame, f"{n_runs} runs, about {words} with {settings.n_workers} workers ({basis}).{aside}"


class _Expectation:
    """How long a run takes: as those of the same pair, else of the same algorithm per row, else a second."""

    def __init__(self, kb: KnowledgeBase, limit_seconds: float) -> None:
        rows = kb.recent_seconds(RECENT_RUNS)
        self.has_history = len(rows) > 0
        self._limit = limit_seconds
        self._by_pair = {
            key: float(group.mean()) for key, group in rows.groupby(["fingerprint", "algorithm"])["seconds"]
        }
        rows["per_row"] = rows["seconds"] / rows["n_rows"].astype(float).clip(lower=100)
        self._per_row = {name: float(group.median()) for name, group in rows.groupby("algorithm")["per_row"]}

    def seconds(self, item: Prepared, algorithm: str) -> float:
        """Return the expected seconds of a run, at most the limit."""
        known = self._by_pair.get((item.fingerprint, algorithm))
        if known is None:
            usual = self._per_row.get(algorithm, statistics.median(self._per_row.values()) if self._per_row else 0.001)
            known = usual * max(item.n_rows, 100)
        return min(known, self._limit)
