"""What follows the search of a session: what it works with, and batches of jobs within the time that is left."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.evaluation import Executor, Job, Outcome
from metaml.search.settings import TuneSettings
from metaml.tuning.trials import FoldModels, Found

TICK_SECONDS = 1.0
Item = TypeVar("Item")


def run_batch(
    items: Sequence[Item],
    job_of: Callable[[Item, float], Job],
    executor: Executor,
    *,
    left: Callable[[], float],
    is_over: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Item, Outcome]]:
    """Yield each item with the outcome of its job, as they finish.

    `left` returns the seconds that remain, with which `job_of` makes the next job. When none remain, or `is_over`, the
    jobs under way are cancelled and the others do not begin.
    """
    waiting = list(items)
    under_way: dict[int, tuple[Item, Job]] = {}
    try:
        while waiting or under_way:
            seconds = left()
            if seconds <= 0 or is_over():
                return
            while waiting and len(under_way) < executor.n_workers:
                item = waiting.pop(0)
                job = job_of(item, seconds)
                under_way[executor.submit(job)] = (item, job)
            finished = executor.next(timeout=min(seconds, TICK_SECONDS))
            if finished is not None:
                ticket = next(ticket for ticket, (_, job) in under_way.items() if job is finished[0])
                yield under_way.pop(ticket)[0], finished[1]
    finally:
        for ticket in under_way:
            executor.cancel(ticket)


@dataclass(frozen=True, eq=False)
class Ending:
    """What the end of a session works with: what was found, and the workers and the time that are left."""

    dataset: Dataset
    found: Found
    executor: Executor
    settings: TuneSettings
    budget: Budget
    models: FoldModels


@dataclass(frozen=True, eq=False)
class Stage(Ending):
    """A part of the end that evaluates; it leaves `closing` seconds of the budget."""

    closing: float = field(kw_only=True)
    should_stop: Callable[[], bool] = field(default=lambda: False, kw_only=True)

    @property
    def left(self) -> float:
        """Return the seconds that the stage may still take."""
        return self.budget.left - self.closing
