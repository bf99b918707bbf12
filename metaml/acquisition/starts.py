"""Which configurations of an algorithm to evaluate first on a new data set (van Hoof 2018, sections 6.4 and 6.5).

Each rule returns positions in a list of candidates in the order of evaluation, from what other data sets say of them.
The algorithm's default is always included: see `with_default`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from metaml.arrays import Floats
from metaml.spaces.config import Config

USUAL_NUMBER = 3
"""Starts of an algorithm, as in the thesis."""

DELTAS = tuple(round(0.1 * step, 1) for step in range(10))
"""Values of delta in eq. 6.2, tried in this order until enough distinct configurations are found."""


def best_k(predicted: Floats, k: int = 3) -> list[int]:
    """Return the candidates with the highest predictions.

    >>> best_k(np.array([0.2, 0.9, 0.5]), 2)
    [1, 2]
    """
    return [int(place) for place in np.argsort(-predicted, kind="stable")[:k]]


def worst_k(predicted: Floats, k: int = 3) -> list[int]:
    """Return the candidates with the lowest predictions: the thesis' "bad-starting", a control.

    >>> worst_k(np.array([0.2, 0.9, 0.5]), 2)
    [0, 2]
    """
    return best_k(-predicted, k)


def delta_score(predicted: Floats, delta: float) -> Floats:
    """Return eq. 6.2 of van Hoof (2018), (1 - p)^delta + p, for predictions in [0, 1]; higher is better.

    With `delta` = 0 the order is that of `predicted`; larger values favour candidates below the best.

    >>> delta_score(np.array([0.0, 0.5, 1.0]), 0.5).round(3).tolist()
    [1.0, 1.207, 1.0]
    """
    score: Floats = (1 - predicted) ** delta + predicted
    return score


def delta_k(predicted: Floats, k: int = 3) -> list[int]:
    """Return the best candidate by eq. 6.2 for delta = 0, 0.1, ... 0.9, the first `k` distinct ones.

    If they run out, the next best predictions follow.
    """
    scaled = unit_interval(predicted)
    found = [int(np.argmax(delta_score(scaled, delta))) for delta in DELTAS]
    return list(dict.fromkeys([*found, *best_k(predicted, k + len(DELTAS))]))[:k]


def greedy_portfolio(
    levels: Floats, k: int = 3, *, given: Sequence[int] = (), weights: Floats | None = None
) -> list[int]:
    """Return candidates that together do well on many data sets, chosen greedily (Feurer et al. 2022, section 3.1).

    `levels` has a row for each data set and a column for each candidate. Each row is scaled to [0, 1]. Each
    step adds the candidate that most raises the mean, over data sets, of the best level so far. Those `given` come
    first and count towards `k`. With `weights` some data sets count more.

    >>> greedy_portfolio(np.array([[3.0, 0.0, 2.0], [0.0, 30.0, 20.0]]), 2)
    [2, 0]
    """
    levels = np.stack([unit_interval(level) for level in levels]) if len(levels) else levels
    share = np.ones(len(levels)) if weights is None else weights
    share = share / share.sum()
    chosen = [int(place) for place in given][:k]
    reached = levels[:, chosen].max(axis=1, initial=-np.inf)
    while len(chosen) < min(k, levels.shape[1]):
        value = share @ np.maximum(levels, reached[:, np.newaxis])
        value[chosen] = -np.inf
        place = int(np.argmax(value))
        chosen.append(place)
        reached = np.maximum(reached, levels[:, place])
    return chosen


def with_default(configs: Sequence[Config], default: Config | None, *, place: int = 1) -> list[Config]:
    """Return the starts with the algorithm's default inserted at `place`, unless it comes earlier.

    It is the second by default: the first start is from the knowledge base, but not all of the first three are.

    >>> with_default([{"a": 1}, {"a": 2}], {"a": 0})
    [{'a': 1}, {'a': 0}, {'a': 2}]
    """
    starts = [dict(config) for config in configs]
    if default is None or default in starts[: place + 1]:
        return starts
    starts = [config for config in starts if config != default]
    return [*starts[:place], dict(default), *starts[place:]]


class Told(Protocol):
    """What is known of candidates before any of them was evaluated on the new data set."""

    @property
    def predicted(self) -> Floats:
        """Return the meta-learner's prediction for each candidate, higher is better."""
        ...

    @property
    def levels(self) -> Floats:
        """Return the level of each candidate (columns) on each known data set (rows)."""
        ...

    @property
    def of_nearest(self) -> Sequence[int]:
        """Return the best candidate of each known data set, that of the nearest by metafeatures first."""
        ...

    @property
    def of_most_alike(self) -> Sequence[int]:
        """Return the best candidate of each known data set, that of the one with the most similar order first.

        The order on the new data set is needed, which only recorded runs have.
        """
        ...


StartRule = Callable[[Told, int], list[int]]
STARTS: dict[str, StartRule] = {
    "delta": lambda told, k: delta_k(told.predicted, k),
    "best": lambda told, k: best_k(told.predicted, k),
    "worst": lambda told, k: worst_k(told.predicted, k),
    "knn": lambda told, k: _first_distinct(told.of_nearest, k),
    "opt": lambda told, k: _first_distinct(told.of_most_alike, k),
    "portfolio": lambda told, k: greedy_portfolio(told.levels, k),
}
"""Rules for the first evaluations of an algorithm, by the name a user gives: eq. 6.2, the best and the worst predicted,
the best of the nearest data sets (KNN-k) or of those with the most similar order (OPT-k), and a greedy portfolio."""
DESIGN = "design"
"""The rule that asks nobody: places that fill the space evenly, as `initial_design` makes them."""


def _first_distinct(places: Iterable[int], k: int) -> list[int]:
    return list(dict.fromkeys(int(place) for place in places))[:k]


def unit_interval(values: Floats) -> Floats:
    """Return values scaled to [0, 1]; 0.5 if all are equal.

    >>> unit_interval(np.array([2.0, 4.0, 3.0])).tolist()
    [0.0, 1.0, 0.5]
    """
    span = float(np.ptp(values)) if len(values) else 0.0
    if span <= 0:
        return np.full(len(values), 0.5)
    scaled: Floats = (values - values.min()) / span
    return scaled
