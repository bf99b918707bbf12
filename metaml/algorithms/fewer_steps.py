"""Learners that cannot stop on their way: fewer iterations, or fewer rows, if there is no time for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Matrix, Rows, Vector

_TRIAL_ITERATIONS = 3
_FIRST_ROWS = 500
_GROWTH = 4  # a fit to a quarter of the rows tells how long one to all of them takes, and costs little beside it
_TREE_POWER, _MOST_POWER = 1.2, 3.0  # of the rows: how the seconds of a fit grow with them
_MARGIN = 0.8  # the share of the time left that is planned with if not all rows fit
_WORTHWHILE = 1.5  # times the rows of the last fit
_SHORTEST = 1e-6  # seconds; a clock may not see less


def fit_iterations(model: Any, Z: Matrix, y: Vector, weight: Vector | None, allowance: Allowance) -> None:
    """Fit a model that iterates until it converges, with as many iterations as there is time for.

    A few iterations show how long one takes. Then it begins anew: one that is interrupted would converge elsewhere.
    """
    settings = {} if weight is None else {"sample_weight": weight}
    if not allowance.is_limited:
        model.fit(Z, y, **settings)
        return
    most, begin = model.max_iter, allowance.used
    model.set_params(max_iter=_TRIAL_ITERATIONS).fit(Z, y, **settings)
    if np.max(model.n_iter_) == _TRIAL_ITERATIONS:  # else it has converged already
        in_time = allowance.left * _TRIAL_ITERATIONS / max(allowance.used - begin, _SHORTEST)
        if in_time > _TRIAL_ITERATIONS:
            model.set_params(max_iter=int(min(most, in_time))).fit(Z, y, **settings)
        allowance.ended_training = bool(np.max(model.n_iter_) == model.max_iter < most)
    model.set_params(max_iter=most)


def fit_on_growing_rows(model: Any, Z: Matrix, y: Vector, weight: Vector | None, allowance: Allowance) -> None:
    """Fit a decision tree to all rows, or to as many as there is time for."""
    for rows in growing_rows(y, allowance, power=_TREE_POWER, seed=model.random_state):
        model.fit(Z[rows], y[rows], sample_weight=None if weight is None else weight[rows])


def growing_rows(y: Vector, allowance: Allowance, *, power: float, seed: int) -> Iterator[Rows]:
    """Yield the rows to fit to, ever more of them, as long as the next fit is expected to end in time.

    Without a limit these are all rows at once. With one, a random few of every class come first; how long the fits
    take, between one yield and the next, says whether there is time for more. Their seconds grow at least by this
    `power` of the rows; those of small fits seem to grow more slowly, because of what every fit costs.
    """
    n = len(y)
    if not allowance.is_limited or n <= _FIRST_ROWS:
        yield np.arange(n)
        return
    order, fewest = _shuffled(y, np.random.default_rng(seed))
    size = max(math.ceil(n / _GROWTH ** math.ceil(math.log(n / _FIRST_ROWS, _GROWTH))), fewest)
    before = None
    while True:
        begin = allowance.used
        yield np.sort(order[:size])
        seconds = max(allowance.used - begin, _SHORTEST)
        if size == n:
            return
        if before is not None:
            measured = math.log(seconds / before[1]) / math.log(size / before[0])
            power = min(max(measured, power), _MOST_POWER)
        is_quick = seconds * (n / size) ** _MOST_POWER < allowance.left
        before, target = (size, seconds), n if is_quick else min(n, _GROWTH * size)
        if seconds * (target / size) ** power > allowance.left:
            target = int(size * (_MARGIN * max(allowance.left, 0.0) / seconds) ** (1 / power))
            if target < _WORTHWHILE * size:
                allowance.ended_training = True
                return
        size = target


def _shuffled(y: Vector, rng: np.random.Generator) -> tuple[Rows, int]:
    """Return all rows in random order, two of each class first, and how many those are; a regression needs two."""
    order: Rows = rng.permutation(len(y))
    if y.dtype.kind == "f":
        return order, 2
    in_classes = np.argsort(y[order], kind="stable")
    codes = y[order][in_classes]
    place = np.empty(len(y), dtype=np.int64)
    place[in_classes] = np.arange(len(y)) - np.searchsorted(codes, codes)
    is_first = place < 2
    return np.concatenate([order[is_first], order[~is_first]]), int(is_first.sum())
