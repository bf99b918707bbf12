"""Which columns matter: probing stops boosting at the first shuffled copy, stability selection boosts half samples.

Thomas et al. (2017), "Probing for sparse and fast variable selection with model-based boosting"; Shah and Samworth
(2013), "Variable selection with error control: another look at stability selection".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metaml.algorithms.base import Matrix
from metaml.algorithms.componentwise.base_learners import Splines
from metaml.algorithms.componentwise.fitting import Ensemble, terms_of
from metaml.algorithms.componentwise.losses import Loss
from metaml.algorithms.componentwise.rounds import next_move
from metaml.arrays import Flags, Floats, Positions

LEARNING_RATE, MOST_ROUNDS, N_PAIRS = 0.1, 1000, 50
"""Shrinkage and rounds of each boosting; pairs of half samples."""
THRESHOLD, EXPECTED_ERRORS = 0.9, 1.0
"""The share of half samples that must select a column, and how many irrelevant columns may be expected among these."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What columns are selected for: rows of a matrix, their weights and their target as the loss has it."""

    Z: Matrix
    is_category: Flags
    weight: Floats
    target: Floats


@dataclass(frozen=True, eq=False)
class Probed:
    """What boosting with shadow columns selected.

    `first` is the round, from 1, in which each column was selected first, 0 if it was not; `gain` is what it took off
    the mean loss.
    """

    first: Positions
    gain: Floats


@dataclass(frozen=True, eq=False)
class Stability:
    """How often half samples selected each column.

    `frequency` has a row for each parameter of a distribution, one row for other losses. Each half sample selected at
    most `n_per_sample` of all.
    """

    frequency: Floats
    n_per_sample: int
    n_pairs: int
    threshold: float

    @property
    def chosen(self) -> Flags:
        """Return which columns are selected by at least the threshold of the samples, for any parameter."""
        return np.asarray((self.frequency >= self.threshold).any(axis=0))

    @property
    def expected_errors(self) -> float:
        """Return at most how many irrelevant columns are expected among the selected ones."""
        return error_bound(self.n_per_sample, self.frequency.size, self.threshold, self.n_pairs)


def probe(rows: Rows, loss: Loss, rng: np.random.Generator, *, curves: bool = True) -> Probed:
    """Return what boosting selects before it would select a shuffled copy of a column."""
    start = loss.start(rows.target, rows.weight)
    ensemble = Ensemble(rows.Z, rows.is_category, rows.weight, start, curves=curves, shadows=rng)
    first, gain = np.zeros(rows.Z.shape[1], dtype=np.int64), np.zeros(rows.Z.shape[1])
    before = np.average(loss.of_rows(rows.target, ensemble.scores), weights=rows.weight)
    for n_done in range(1, MOST_ROUNDS + 1):
        move = next_move(ensemble, loss, rows.target, LEARNING_RATE)
        if move is None:
            break
        ensemble.take(move.values, move.term, move.shift)
        after = np.average(loss.of_rows(rows.target, ensemble.scores), weights=rows.weight)
        first[move.term] = first[move.term] or n_done
        gain[move.term] += before - after
        before = after
    return Probed(first, gain)


def stability(
    rows: Rows,
    loss: Loss,
    rng: np.random.Generator,
    *,
    curves: bool = True,
    threshold: float = THRESHOLD,
    expected_errors: float = EXPECTED_ERRORS,
    n_per_sample: int | None = None,
    n_pairs: int = N_PAIRS,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Stability:
    """Return how often boosting selects each column in complementary pairs of half samples.

    A half sample ends when `n_per_sample` columns are selected; by default as many as `expected_errors` allow. It ends
    with fewer pairs when `may_go_on` says so.
    """
    n_outputs = 1 if loss.moves_together else len(loss.start(rows.target, rows.weight))
    count: Floats = np.zeros((n_outputs, rows.Z.shape[1]))
    if n_per_sample is None:
        n_per_sample = most_per_sample(count.size, threshold, expected_errors, n_pairs)
    terms = terms_of(rows.Z, rows.is_category)
    splines: Splines = {}
    half, n_done = len(rows.Z) // 2, 0
    while n_done < n_pairs:
        order = rng.permutation(len(rows.Z))
        for part in (order[:half], order[half : 2 * half]):
            sample = Rows(rows.Z[part], rows.is_category, _mean_one(rows.weight[part]), rows.target[part])
            start = loss.start(sample.target, sample.weight)
            ensemble = Ensemble(
                sample.Z, rows.is_category, sample.weight, start, curves=curves, terms=terms, splines=splines
            )
            for output, term in _first_selected(ensemble, loss, sample.target, n_per_sample):
                count[output, term] += 1
        n_done += 1
        if not may_go_on():
            break
    return Stability(count / (2 * n_done), n_per_sample, n_done, threshold)


def _first_selected(ensemble: Ensemble, loss: Loss, target: Floats, n_most: int) -> set[tuple[int, int]]:
    """Return the first so many outputs and terms that boosting moves."""
    found: set[tuple[int, int]] = set()
    for _ in range(MOST_ROUNDS):
        move = next_move(ensemble, loss, target, LEARNING_RATE)
        if move is None:
            break
        ensemble.take(move.values, move.term, move.shift)
        found.add((move.output, move.term))
        if len(found) == n_most:
            break
    return found


def _mean_one(weight: Floats) -> Floats:
    return np.asarray(weight / weight.mean())


def error_bound(n_per_sample: int, n_columns: int, threshold: float, n_pairs: int = N_PAIRS) -> float:
    """Return at most how many irrelevant columns are expected where so many of all are selected in each half sample.

    Frequencies of irrelevant columns are taken to have one peak (Shah and Samworth 2013, theorem 2) where that theorem
    holds; else it is the bound of Meinshausen and Bühlmann (2010).

    >>> round(error_bound(4, 10, 0.9), 2), round(error_bound(4, 10, 0.6), 2)
    (0.69, 8.0)
    """
    share = n_per_sample / n_columns
    if threshold <= 0.5 + min(share**2, 1 / (2 * n_pairs) + 0.75 * share**2):
        strictness = 2 * threshold - 1
    elif threshold <= 0.75:
        strictness = 2 * (2 * threshold - 1 - 1 / (2 * n_pairs))
    else:
        strictness = (1 + 1 / n_pairs) / (4 * (1 - threshold + 1 / (2 * n_pairs)))
    return n_per_sample * share / strictness


def most_per_sample(
    n_columns: int, threshold: float = THRESHOLD, expected_errors: float = EXPECTED_ERRORS, n_pairs: int = N_PAIRS
) -> int:
    """Return how many columns each half sample may select so that at most so many errors are expected; at least one.

    >>> most_per_sample(10), most_per_sample(1000)
    (4, 48)
    """
    allowed = (n for n in range(n_columns, 0, -1) if error_bound(n, n_columns, threshold, n_pairs) <= expected_errors)
    return next(allowed, 1)
