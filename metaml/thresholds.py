"""Class thresholds: factors on class probabilities, tuned for metrics that look at predicted labels.

The most probable class is not the best answer for every metric: with few positives, F1 wants a lower bar than one
half. Tuned on out-of-fold predictions (Coors 2018, sec. 3.3): two classes by a search over sub-intervals of the
threshold, more by generalised simulated annealing over the logarithms of the factors. The factors are kept only if
they also help on rows that they were not tuned on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from metaml.evaluation.folds import plan_folds
from metaml.evaluation.scoring import Metric, metric

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Loss = Callable[[Floats], float]

N_INTERVALS = 100
"""Sub-intervals of a threshold, for each class holding an equal share of its rows."""
N_CHECKS = 5
N_RESAMPLES = 100
FEWEST_ROWS = 30
FEWEST_ANNEALED = 3_000
"""With more rows, fewer are looked at before the evaluations become fewer: many steps matter more than many rows."""
MOST_ROWS = 20_000
LARGEST_LOG_FACTOR = 5.0
LEAST_PRICE = 1e-6
"""What a score pays for each unit of the logarithms of the factors, so that among equals the mildest win."""
MOST_EVALUATIONS = 1_000
"""Coors (2018), fig. 18: annealing has found its best after about 3,000 evaluations; ours starts better."""
MOST_CELLS = 12_000_000
"""Rows × classes × evaluations of one annealing: a fraction of a second."""


def depends_on_thresholds(metric_name: str) -> bool:
    """Return whether a metric looks at predicted labels.

    >>> depends_on_thresholds("f1_macro"), depends_on_thresholds("roc_auc"), depends_on_thresholds("neg_rmse")
    (True, False, False)
    """
    return metric(metric_name).needs == "labels"


def decide(probabilities: Array, multipliers: Array | None = None) -> npt.NDArray[np.int64]:
    """Return the code of the class with the largest probability × factor.

    >>> decide(np.array([[0.8, 0.2], [0.6, 0.4]]), np.array([0.3, 0.7])).tolist()
    [0, 1]
    """
    weighted = probabilities if multipliers is None else probabilities * multipliers
    return np.asarray(np.argmax(weighted, axis=1), dtype=np.int64)


def tune_multipliers(probabilities: Array, truth: Array, metric_name: str, *, seed: int = 0) -> Floats:
    """Return a factor for each class, the largest being 1; all are 1 unless tuning is worth it.

    `probabilities` are out of fold, rows that were not tested are NaN. Tuning is worth it if the metric depends on
    labels and, cross-validated, factors tuned on four fifths of the rows beat plain probabilities on the last
    fifth by more than one standard error.
    """
    neutral = np.ones(probabilities.shape[1])
    tested = np.isfinite(probabilities).all(axis=1)
    if not depends_on_thresholds(metric_name) or tested.sum() < FEWEST_ROWS:
        return neutral
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(tested)
    if len(rows) > MOST_ROWS:
        rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
    chances, truth = probabilities[rows].astype(np.float64), np.asarray(truth)[rows]
    found = metric(metric_name)
    if len(np.unique(truth)) < 2 or not _is_worth_it(chances, truth, found, rng):
        return neutral
    return _tune(chances, truth, found, rng)


def _is_worth_it(chances: Floats, truth: Array, found: Metric, rng: np.random.Generator) -> bool:
    """Return whether tuned factors help on rows they were not tuned on, by more than one standard error."""
    plan = plan_folds(len(truth), truth, n_folds=N_CHECKS, seed=int(rng.integers(2**31)))
    plain, tuned = decide(chances), np.empty(len(truth), dtype=np.int64)
    for fold in range(plan.n_folds):
        train, test = plan.split(fold)
        tuned[test] = decide(chances[test], _tune(chances[train], truth[train], found, rng))
    gain = found.function(truth, tuned) - found.function(truth, plain)
    draws = (rng.integers(len(truth), size=len(truth)) for _ in range(N_RESAMPLES))
    noise = np.nanstd([found.function(truth[i], tuned[i]) - found.function(truth[i], plain[i]) for i in draws])
    return bool(gain > noise)


def _tune(chances: Floats, truth: Array, found: Metric, rng: np.random.Generator) -> Floats:
    """Return the factors with the best score on these rows, the largest being 1."""
    n_rows, n_classes = chances.shape
    if n_classes > 2 and n_rows > (most := max(FEWEST_ANNEALED, MOST_CELLS // (n_classes * MOST_EVALUATIONS))):
        part = plan_folds(n_rows, truth, n_folds=2, seed=int(rng.integers(2**31)), max_rows=most).assignment >= 0
        chances, truth = chances[part], truth[part]

    def loss(logs: Floats) -> float:
        value = found.function(truth, decide(chances, np.exp(logs)))
        return LEAST_PRICE * float(np.abs(logs).sum()) - (value if value == value else -1.0)

    logs = _cut(chances, truth, loss) if n_classes == 2 else _anneal(chances, truth, loss, rng)
    return np.asarray(np.exp(logs - logs.max()))


def _cut(chances: Floats, truth: Array, loss: Loss) -> Floats:
    """Return the log factors of two classes: the best cut between sub-intervals of the second one's probability.

    A cut counts as the mean of itself and its two neighbours, so that a lucky spike does not win.
    """
    shares = np.linspace(0.0, 1.0, N_INTERVALS + 1)
    seen = [np.quantile(chances[truth == code, 1], shares) for code in np.unique(truth)]
    edges = np.unique(np.clip(np.concatenate([[0.0, 0.5, 1.0], *seen]), 0.0, 1.0))
    cuts = np.append((edges[1:] + edges[:-1]) / 2, 0.5)
    cuts.sort()
    logs = np.stack(
        [np.zeros_like(cuts), np.clip(np.log1p(-cuts) - np.log(cuts), -LARGEST_LOG_FACTOR, LARGEST_LOG_FACTOR)], axis=1
    )
    losses = np.array([loss(pair) for pair in logs])
    padded = np.concatenate([losses[:1], losses, losses[-1:]])
    smooth = (padded[:-2] + padded[1:-1] + padded[2:]) / 3
    return np.asarray(logs[int(np.argmin(smooth))])


def _anneal(chances: Floats, truth: Array, loss: Loss, rng: np.random.Generator) -> Floats:
    """Return the log factors of many classes by generalised simulated annealing (Xiang et al. 2013).

    It starts from equal factors or from those that make all classes equally frequent, whichever is better, and does
    without local search, as the score is a step function (Coors 2018, sec. 5.2.2).
    """
    from scipy.optimize import dual_annealing

    n_rows, n_classes = chances.shape
    members = np.bincount(truth, minlength=n_classes) + 1
    balanced = np.clip(np.log(members.max() / members), 0.0, LARGEST_LOG_FACTOR)
    start = min((np.zeros(n_classes), balanced), key=loss)
    found = dual_annealing(
        loss,
        bounds=[(-LARGEST_LOG_FACTOR, LARGEST_LOG_FACTOR)] * n_classes,
        x0=start,
        maxfun=max(50, min(MOST_EVALUATIONS, MOST_CELLS // (n_rows * n_classes))),
        no_local_search=True,
        rng=np.random.default_rng(rng.integers(2**63)),
    )
    return np.asarray(min((start, np.asarray(found.x)), key=loss))
