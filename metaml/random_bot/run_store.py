"""How a bot stores its runs: at once, or those of a moment together, so that one writer serves many workers."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from metaml.evaluation import Outcome
from metaml.random_bot.tally import Tally
from metaml.records.conversion import environment_record
from metaml_kb import KnowledgeBase, Run
from metaml_kb.files import kept_safe
from metaml_kb.lookup import Claims

BATCH_SECONDS, BATCH_RUNS = 0.2, 100
AT_ONCE: Any = {"seconds": 0.0, "n_runs": 1}


class RunStore:
    """Writes runs when there are `n_runs` of them, or the first has waited for `seconds`.

    Then it gives up the claims on them.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        claims: Claims,
        tally: Tally,
        *,
        seconds: float = BATCH_SECONDS,
        n_runs: int = BATCH_RUNS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kb, self._claims, self._tally, self._clock = kb, claims, tally, clock
        self._seconds, self._n_runs = seconds, n_runs
        self._waiting: list[Run] = []
        self._since = 0.0
        self._environments: set[str] = set()
        self._here = ""

    def environment_of(self, outcome: Outcome) -> str:
        """Return the key of the machine that made an outcome; a new one is stored."""
        if outcome.environment is None and self._here:
            return self._here
        record = environment_record(outcome.environment)
        if record.key not in self._environments:
            self._environments.add(record.key)
            kept_safe(self._kb, partial(self._kb.add_environment, record), self._tally.note_rescue)
        if outcome.environment is None:
            self._here = record.key
        return record.key

    def add(self, run: Run) -> None:
        """Take a run; it is stored when its batch is due."""
        if not self._waiting:
            self._since = self._clock()
        self._waiting.append(run)
        self.flush_if_due()

    def seconds_left(self, most: float) -> float:
        """Return how long the next batch can wait, at most `most`."""
        return min(max(self._since + self._seconds - self._clock(), 0.0), most) if self._waiting else most

    def flush_if_due(self) -> None:
        """Store the runs that wait, if they are many or have waited long enough."""
        if len(self._waiting) >= self._n_runs or (self._waiting and self.seconds_left(self._seconds) <= 0):
            self.flush()

    def flush(self) -> None:
        """Store the runs that wait."""
        runs, self._waiting = self._waiting, []
        if runs:
            self._tally.note_stored(kept_safe(self._kb, partial(self._kb.add_runs, runs), self._tally.note_rescue))
            self._claims.release(run.identity for run in runs)
