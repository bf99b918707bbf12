"""Class thresholds: factors on class probabilities, tuned for metrics of predicted labels.

The most probable class is not the best prediction for every metric: with few positives, F1 needs a threshold below one
half. Factors are tuned on out-of-fold predictions (Coors 2018, sec. 3.3): for two classes by a search over
sub-intervals of the threshold, for more by generalised simulated annealing over the logarithms of the factors. Factors
far from 1 must gain more than factors close to 1. Annealed factors, and those of rare classes, must also help on rows
that they were not tuned on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from metaml.arrays import Array, Floats, Positions
from metaml.ensemble.threshold_scores import (
    LARGEST_LOG_FACTOR,
    PRICE,
    best_line,
    depends_on_thresholds,
    is_few,
    lines_between,
)
from metaml.metrics import Metric, metric
from metaml.metrics.base import Weight, some
from metaml.splits import FoldPlan, given_plan
from metaml.splits.shuffled import plan_folds

Way = Callable[[Floats, Array, Weight, Metric], Floats]
"""From probabilities, truth, weights of the rows and metric to the logarithms of factors."""

N_CHECKS = 5
N_RESAMPLES = 100
FEWEST_ROWS = 30
FEWEST_ANNEALED = 3_000
"""With many rows, annealing uses a sample of at least this size: many steps matter more than many rows."""
MOST_ROWS = 20_000
MOST_EVALUATIONS = 1_000
"""Coors (2018), fig. 18: annealing has found its best after about 3,000 evaluations; ours starts better."""
MOST_CELLS = 12_000_000
"""Rows × classes × evaluations of one annealing: a fraction of a second."""


def decide(probabilities: Array, multipliers: Array | None = None) -> Positions:
    """Return the code of the class with the largest probability × factor.

    >>> decide(np.array([[0.8, 0.2], [0.6, 0.4]]), np.array([0.3, 0.7])).tolist()
    [0, 1]
    """
    weighted = probabilities if multipliers is None else probabilities * multipliers
    return np.asarray(np.argmax(weighted, axis=1), dtype=np.int64)


def tune_multipliers(
    probabilities: Array,
    truth: Array,
    metric_name: str,
    *,
    seed: int = 0,
    folds: Array | None = None,
    row_weights: Weight = None,
) -> Floats:
    """Return a factor for each class, the largest being 1; all are 1 if the metric ignores labels or rows are few.

    Where errors have costs, they are those of the theoretical thresholds in that case.

    `probabilities` are out of fold, rows that were not tested are NaN; F1 looks at the class that is rarer in all rows.
    Factors are checked on the `folds` that test the rows, such as groups that belong together, else on shuffled ones.
    `row_weights` say how much each row counts.
    """
    found = metric(metric_name).on(truth)
    neutral = np.ones(probabilities.shape[1]) if found.factors is None else np.array(found.factors)
    tested = np.isfinite(probabilities).all(axis=1)
    if not depends_on_thresholds(metric_name) or tested.sum() < FEWEST_ROWS:
        return neutral
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(tested)
    if len(rows) > MOST_ROWS:
        rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
    chances, truth, weight = (
        found.leaning(probabilities[rows].astype(np.float64)),
        np.asarray(truth)[rows],
        some(row_weights, rows),
    )
    if len(np.unique(truth)) < 2:
        return neutral
    accepted: Way = _equal
    # With enough rows of each class, a single line is accepted without a check.
    tested_in = None if folds is None else np.asarray(folds)[rows]
    is_worth_it = partial(_is_worth_it, chances, truth, weight, found, rng, folds=tested_in)
    if not is_few(truth, len(neutral)) or is_worth_it(_line, accepted):
        accepted = _line
    annealed = partial(_anneal, rng=rng)
    if len(neutral) > 2 and is_worth_it(annealed, accepted):
        accepted = annealed
    logs = accepted(chances, truth, weight, found) + np.log(neutral)
    return np.asarray(np.exp(logs - logs.max()))


def _equal(chances: Floats, truth: Array, weight: Weight, found: Metric) -> Floats:  # noqa: ARG001
    return np.zeros(chances.shape[1])


def _line(chances: Floats, truth: Array, weight: Weight, found: Metric) -> Floats:
    """Return the log factors of the best line: of two classes any, of more those by how frequent classes are."""
    lines = lines_between(chances, truth, weight=weight)
    return np.asarray(lines.logs[best_line(lines.logs, lines.tables[:, 0], found.name, found.positive)])


def _is_worth_it(
    chances: Floats,
    truth: Array,
    weight: Weight,
    found: Metric,
    rng: np.random.Generator,
    way: Way,
    simpler: Way,
    *,
    folds: Array | None,
) -> bool:
    """Return whether the factors of `way` beat those of `simpler` on rows they were not tuned on.

    The gain must exceed one standard error.
    """
    plan = _check_plan(truth, folds, rng)
    simple, tuned = np.empty(len(truth), dtype=np.int64), np.empty(len(truth), dtype=np.int64)
    for fold in range(plan.n_folds):
        train, test = plan.split(fold)
        simple[test] = decide(chances[test], np.exp(simpler(chances[train], truth[train], some(weight, train), found)))
        tuned[test] = decide(chances[test], np.exp(way(chances[train], truth[train], some(weight, train), found)))

    def gain(rows: Array | slice) -> float:
        asked, own = truth[rows], some(weight, rows)
        return found.function(asked, tuned[rows], own) - found.function(asked, simple[rows], own)

    draws = (rng.integers(len(truth), size=len(truth)) for _ in range(N_RESAMPLES))
    noise = np.nanstd([gain(rows) for rows in draws])
    return bool(gain(slice(None)) > noise)


def _check_plan(truth: Array, folds: Array | None, rng: np.random.Generator) -> FoldPlan:
    """Return the folds that factors are checked on: those given, if there are several, else shuffled ones."""
    seed = int(rng.integers(2**31))
    known = np.unique([] if folds is None else folds, return_inverse=True)
    if len(known[0]) > 1:
        return given_plan(known[1])
    return plan_folds(len(truth), truth, n_folds=N_CHECKS, seed=seed)


def _anneal(chances: Floats, truth: Array, weight: Weight, found: Metric, *, rng: np.random.Generator) -> Floats:
    """Return the log factors of many classes by generalised simulated annealing (Xiang et al. 2013).

    It starts from the best power of the class frequencies. Local search is off because the score is a step
    function (Coors 2018, sec. 5.2.2).
    """
    from scipy.optimize import dual_annealing

    n_rows, n_classes = chances.shape
    if n_rows > (most := max(FEWEST_ANNEALED, MOST_CELLS // (n_classes * MOST_EVALUATIONS))):
        part = plan_folds(n_rows, truth, n_folds=2, seed=int(rng.integers(2**31)), max_rows=most).assignment >= 0
        chances, truth, weight = chances[part], truth[part], some(weight, part)
        n_rows = len(truth)

    def loss(logs: Floats) -> float:
        value = found.function(truth, decide(chances, np.exp(logs)), weight)
        return PRICE * float(np.abs(logs).sum()) - (value / found.unit if value == value else -1.0)

    start = _line(chances, truth, weight, found)
    annealed = dual_annealing(
        loss,
        bounds=[(-LARGEST_LOG_FACTOR, LARGEST_LOG_FACTOR)] * n_classes,
        x0=start,
        maxfun=max(50, min(MOST_EVALUATIONS, MOST_CELLS // (n_rows * n_classes))),
        no_local_search=True,
        rng=np.random.default_rng(rng.integers(2**63)),
    )
    return np.asarray(min((start, np.asarray(annealed.x)), key=loss))
