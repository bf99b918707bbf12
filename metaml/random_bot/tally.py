"""How far a bot has come, and what it did in all."""

from collections import Counter
from dataclasses import dataclass, field

from metaml.budget import Budget
from metaml.evaluation import Job, Outcome
from metaml_kb import Added, Run


@dataclass(frozen=True)
class Progress:
    """How far a bot has come: for the person who watches."""

    n_done: int
    n_failed: int
    n_datasets: int
    seconds: float
    last: Run


@dataclass(frozen=True)
class BotReport:
    """What a bot did.

    - `n_done`, `n_failed`, `n_known`: runs that were made, those of them that failed, and those known before.
    - `seconds`, `busy_seconds`: wall-clock time, and the time of all workers together.
    - `statuses`: the number of runs by algorithm and status.
    - `set_aside`: the data sets that could not be used, each with the reason.
    - `rescue`: where all runs are if another program deleted or replaced the file of the knowledge base; else empty.
    - `n_workers`: how many evaluated at a time when it ended.

    >>> BotReport(n_done=3, n_failed=1).n_failed
    1
    """

    n_done: int = 0
    n_failed: int = 0
    n_known: int = 0
    seconds: float = 0.0
    busy_seconds: float = 0.0
    statuses: dict[tuple[str, str], int] = field(default_factory=dict)
    set_aside: dict[str, str] = field(default_factory=dict)
    rescue: str = ""
    n_workers: int = 1


class Tally:
    """What was done so far."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.set_aside: dict[str, str] = {}
        self._rescue = ""
        self._statuses: Counter[tuple[str, str]] = Counter()
        self._covered: set[str] = set()
        self._n_known = 0
        self._busy_seconds = 0.0

    @property
    def _n_done(self) -> int:
        return self._statuses.total()

    @property
    def _n_failed(self) -> int:
        return sum(n for (_, status), n in self._statuses.items() if status != "ok")

    def count(self, job: Job, outcome: Outcome) -> None:
        """Take note of a finished evaluation."""
        self._statuses[job.algorithm, outcome.status] += 1
        self._covered.add(job.dataset)
        self._busy_seconds += outcome.seconds

    def note_stored(self, added: Added) -> None:
        """Take note of runs that were stored, or were known before."""
        self._n_known += added.n_known

    def note_rescue(self, sentence: str) -> None:
        """Take note of where all runs are."""
        self._rescue = sentence

    def progress(self, last: Run) -> Progress:
        """Return how far the bot has come."""
        return Progress(self._n_done, self._n_failed, len(self._covered), self.budget.used, last)

    def report(self, n_workers: int) -> BotReport:
        """Return what was done in all."""
        return BotReport(
            n_done=self._n_done,
            n_failed=self._n_failed,
            n_known=self._n_known,
            seconds=self.budget.used,
            busy_seconds=self._busy_seconds,
            statuses=dict(self._statuses),
            set_aside=self.set_aside,
            rescue=self._rescue,
            n_workers=n_workers,
        )
