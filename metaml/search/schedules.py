"""When several workers evaluate at a time: which configurations they get next, and when a search is asked for more.

A schedule knows no clock and no executor. Asked with the same search and the same turn, it chooses the same.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.search.bandit_search import NextTrial
from metaml.search.optimizer import Option
from metaml.search.packing import pack

DEFAULT_SCHEDULE = "asynchronous"
OVERSAMPLING = 8
"""Candidates of a batch for each worker, as in Kotthaus et al. (2017), section 4."""


@dataclass(frozen=True)
class Turn:
    """What a schedule may look at: workers, open jobs, how many evaluations are still to come, and how many may."""

    n_workers: int
    n_open: int
    rounds_left: int | None = None
    most: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the turn as plain JSON."""
        return asdict(self)


class Searching(Protocol):
    """What a schedule asks for choices: the search for the best score, or for a front."""

    @property
    def is_in_initial_design(self) -> bool:
        """Return whether the next choice is one of the initial design."""
        ...

    def ask(self, rounds_left: int | None = None) -> NextTrial:
        """Return what to evaluate next."""
        ...

    def options(self, n: int, rounds_left: int | None = None, *, most_seconds: float = ...) -> list[Option]:
        """Return about `n` proposals; none is open until it is taken."""
        ...

    def take(self, option: Option) -> NextTrial:
        """Return an option as a choice that stays open until `tell` or `drop`."""
        ...


class Schedule(Protocol):
    """Decides what is evaluated next, by one or many workers."""

    def ask(self, search: Searching, turn: Turn) -> list[NextTrial]:
        """Return what to evaluate next, in the order to begin; empty to wait until an open job is done.

        With no job open it returns at least one.
        """
        ...


class Asynchronous:
    """A worker that is free gets the next proposal at once. Open jobs count as if they had their predicted score."""

    def ask(self, search: Searching, turn: Turn) -> list[NextTrial]:
        """Return one proposal."""
        return [search.ask(turn.rounds_left)]


class Rambo:
    """Batches that are packed by predicted seconds, so that all workers end at about the same time.

    A batch is chosen from eight candidates per worker, which one model proposes with different weights on
    uncertainty. The candidate with the least weight has the highest priority and a worker for itself. Its seconds are
    the time of the batch. The others share the remaining workers, so that the sum of priorities is large (knapsack).
    Similar candidates are clustered before: the best of each cluster come first. The model learns from all jobs of a
    batch before the next one is chosen. Kotthaus et al. (2017), section 3; Thomas (2019), chapter 6.
    """

    def ask(self, search: Searching, turn: Turn) -> list[NextTrial]:
        """Return the next batch once the last one is done; the initial design needs no batches."""
        if search.is_in_initial_design:
            return [search.ask(turn.rounds_left)]
        if turn.n_open:
            return []
        options = by_spread_priority(search.options(OVERSAMPLING * turn.n_workers, turn.rounds_left), turn.n_workers)
        seconds = job_seconds(options)
        batch = choose_batch(seconds, turn.n_workers)[: turn.most]
        chosen = [(seconds[place], search.take(options[place])) for place in batch]
        n_idle = turn.n_workers - len(chosen) if turn.most is None else min(turn.n_workers, turn.most) - len(chosen)
        if n_idle > 0:
            left = [options[place] for place in np.argsort(seconds, kind="stable") if place not in batch]
            fitting = search.options(n_idle, turn.rounds_left, most_seconds=float(seconds[0]))
            fill = [*fitting, *left][:n_idle]
            chosen += [(option.seconds or float(seconds[0]), search.take(option)) for option in fill]
        # The longest first: workers that take the next job when they are free then end together.
        return [choice for _, choice in sorted(chosen, key=lambda pair: -pair[0])]


def choose_batch(seconds: Floats, n_workers: int) -> list[int]:
    """Return the places of a batch, given the predicted seconds of candidates in the order of their priority.

    >>> choose_batch(np.array([4.0, 9.0, 2.0, 2.0, 3.0]), 2)
    [0, 2, 3]
    """
    values = np.arange(len(seconds), 0, -1.0)
    packed = pack(seconds[1:], values[1:], n_workers - 1, float(seconds[0]))
    return [0, *sorted(place + 1 for places in packed for place in places)]


def job_seconds(options: list[Option]) -> Floats:
    """Return the predicted seconds of candidates; one without a prediction counts as the median of the others."""
    known = [option.seconds for option in options if option.seconds is not None]
    usual = float(np.median(known)) if known else 1.0
    return np.array([usual if option.seconds is None else option.seconds for option in options])


def by_spread_priority(options: list[Option], n_workers: int) -> list[Option]:
    """Return candidates by priority, similar ones apart: first the best of each cluster, then the second best.

    Candidates of different algorithms are never in one cluster.
    """
    by_algorithm: dict[str, list[Option]] = {}
    for option in options:
        by_algorithm.setdefault(option.algorithm, []).append(option)
    rounds: list[list[Option]] = []
    for group in by_algorithm.values():
        n_clusters = max(round(n_workers * len(group) / len(options)), 1)
        for members in clusters([option.row for option in group], n_clusters):
            ranked = sorted((group[place] for place in members), key=lambda option: option.width)
            for number, option in enumerate(ranked):
                if number == len(rounds):
                    rounds.append([])
                rounds[number].append(option)
    return [option for turn in rounds for option in sorted(turn, key=lambda option: option.width)]


def clusters(rows: list[Floats], n: int) -> list[list[int]]:
    """Return the places of at most `n` groups of near rows, by average linkage; inactive parameters count as one value.

    >>> clusters([np.array([0.0]), np.array([1.0]), np.array([0.1])], 2)
    [[0, 2], [1]]
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    if n >= len(rows) or n == 1:
        return [[place] for place in range(len(rows))] if n > 1 else [list(range(len(rows)))]
    labels = fcluster(linkage(np.nan_to_num(np.stack(rows), nan=-0.5), "average"), n, "maxclust")
    return [np.flatnonzero(labels == label).tolist() for label in dict.fromkeys(labels)]


SCHEDULES: dict[str, Callable[[], Schedule]] = {"asynchronous": Asynchronous, "rambo": Rambo}
"""How workers share a search, by the name a user gives."""


def schedule_named(name: str) -> Schedule:
    """Return a schedule by its name; BadRequest if there is none."""
    if name not in SCHEDULES:
        raise BadRequest(f"No schedule is named {name!r}. Choose one of {', '.join(SCHEDULES)}.")
    return SCHEDULES[name]()
