"""Ensembles: a weighted mean of models, chosen greedily by their out-of-fold predictions.

Selection with replacement (Caruana et al. 2004, "Ensemble selection from libraries of models"): begin with the best
model, add again and again the one that helps the mean most, and keep the smallest collection that scored best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from metaml.ensemble.combination import combine
from metaml.ensemble.threshold_scores import judge, judge_folds
from metaml.errors import BadRequest
from metaml.metrics import Metric, metric
from metaml.metrics.base import Weight, some

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
BatchScore = Callable[[Array], Floats]
"""Scores of several predictions of the same rows at once: candidates × rows (× classes) in, one score each out."""

MOST_CANDIDATES = 50
MOST_ROWS = 20_000
PATIENCE = 12
"""Rounds without a better score after which selection ends."""
GUIDE = "neg_log_loss"
"""Who joins an ensemble for a metric of labels: the tuned score itself is a rough guide, and a slow one."""
LEAST_GAIN = 1e-6
"""What a larger ensemble must gain on a smaller one, as a share of the spread between the candidates' scores."""


def select(
    predictions: Sequence[Array],
    truth: Array,
    metric_name: str,
    *,
    folds: Array | None = None,
    is_forward: bool = False,
    n_rounds: int = 50,
    n_init: int = 1,
    seed: int = 0,
    row_weights: Weight = None,
) -> Floats:
    """Return the weight of each candidate in the ensemble: not negative, summing to 1, most of them 0.

    `predictions` holds out-of-fold class probabilities (rows × classes) or values for each candidate. Only rows that
    every candidate predicted count; the others are NaN. With `folds` (the fold that tests each row) a score is the
    mean over folds, as that of a single run is; where the metric looks at labels, the score after thresholds decides
    how many are taken, and the log loss, which is smooth, who is next. `is_forward` is as in `judge`. On these rows the
    ensemble is never worse than the best candidate.
    It begins with the `n_init` best candidates. `row_weights` say how much each row counts. `seed` draws the rows that
    are looked at where there are more than 20,000; all rows decide in the end.
    """
    found = metric(metric_name).on(truth)
    stack, truth, folds, weight = _common_rows(predictions, truth, folds, row_weights)
    scores = partial(_scores, is_forward=is_forward)
    guide = metric(GUIDE) if found.needs == "labels" and folds is not None else found
    singles = np.array([scores(found, _exact(one)[None], truth, folds, weight)[0] for one in stack])
    if np.isnan(singles).all():
        raise BadRequest(f"No candidate has a defined {found.label} on these rows. Choose another metric.")
    best = int(np.nanargmax(singles))
    alone = np.zeros(len(stack))
    alone[best] = 1.0
    if len(stack) == 1 or n_rounds < 2:
        return alone

    order = np.argsort(-singles, kind="stable")
    order = order[np.isfinite(singles[order])][:MOST_CANDIDATES]
    rows = _some_rows(len(truth), seed)
    asked = truth[rows], None if folds is None else folds[rows], some(weight, rows)
    candidates = stack[np.ix_(order, rows)].astype(np.float64)
    if guide is not found:
        guided = np.argsort(-scores(guide, candidates, *asked), kind="stable")
        order, candidates = order[guided], candidates[guided]
    counts = _greedy(
        candidates,
        lambda batch: scores(guide, batch, *asked),
        n_rounds=n_rounds,
        n_init=min(max(1, n_init), len(order)),
        worth_of=None if guide is found else lambda mean: float(scores(found, mean[None], *asked)[0]),
    )
    weights = np.zeros(len(stack))
    weights[order] = counts / counts.sum()
    together = scores(found, _exact(combine(stack, weights))[None], truth, folds, weight)[0]
    return weights if together > singles[best] else alone


def score(
    prediction: Array,
    truth: Array,
    metric_name: str,
    *,
    folds: Array | None = None,
    y: Array | None = None,
    is_forward: bool = False,
    row_weights: Weight = None,
) -> float:
    """Return the score of out-of-fold predictions on the rows that have one; with `folds`, the mean over folds.

    `y` is as in `all_scores`, `is_forward` as in `judge`, `row_weights` as in `select`.
    """
    found = metric(metric_name).on(truth if y is None else y)
    stack, truth, folds, weight = _common_rows([prediction], truth, folds, row_weights)
    return float(_scores(found, _exact(stack[0])[None], truth, folds, weight, is_forward=is_forward)[0])


def batch_scores(batch: Array, truth: Array, metric_name: str) -> Floats:
    """Return the score of several predictions of the same rows: candidates × rows (× classes) in, one score each out.

    >>> batch_scores(np.array([[1.0, 3.0], [1.0, 4.0]]), np.array([1.0, 2.0]), "neg_mae").tolist()
    [-0.5, -1.0]
    """
    exact = np.stack([_exact(one) for one in batch])
    return np.asarray(_scores(metric(metric_name).on(truth), exact, truth, None))


def fold_scores(prediction: Array, truth: Array, metric_name: str, folds: Array, row_weights: Weight = None) -> Floats:
    """Return the score of out-of-fold predictions on each fold; `score` is their mean."""
    found = metric(metric_name).on(truth)
    stack, truth, tested_in, weight = _common_rows([prediction], truth, folds, row_weights)
    rows = _exact(stack[0])
    if found.needs == "labels":
        places = np.asarray(tested_in)
        return judge_folds(rows, truth, places, found.name, positive=found.positive, row_weights=weight)
    parts = [np.asarray(tested_in) == fold for fold in np.unique(np.asarray(tested_in))]
    return np.array([_scores(found, rows[part][None], truth[part], None, some(weight, part))[0] for part in parts])


def _greedy(
    candidates: Array,
    score_of: BatchScore,
    *,
    n_rounds: int,
    n_init: int,
    worth_of: Callable[[Array], float] | None = None,
) -> Floats:
    """Return how often each candidate was taken; the candidates come best first.

    The score says who is taken next, and which collection was best unless `worth_of` (a mean prediction) does.
    """
    counts = np.zeros(len(candidates))
    counts[:n_init] = 1
    total = candidates[:n_init].sum(axis=0)
    singles = score_of(candidates)
    least_gain = LEAST_GAIN * float(np.ptp(singles))
    best_counts = np.eye(len(candidates))[0]
    best_score = singles[0] if worth_of is None else worth_of(candidates[0])
    first = score_of(total[None] / n_init)[0] if worth_of is None else worth_of(total / n_init)
    if n_init > 1 and first > best_score + least_gain:
        best_counts, best_score = counts.copy(), first
    rounds_since_best = 0
    for n_taken in range(n_init + 1, n_rounds + 1):
        scores = score_of((total + candidates) / n_taken)
        chosen = _first_best(scores, counts > 0)
        counts[chosen] += 1
        total = total + candidates[chosen]
        worth = scores[chosen] if worth_of is None else worth_of(total / n_taken)
        if worth > best_score + least_gain:
            best_counts, best_score, rounds_since_best = counts.copy(), worth, 0
        else:
            rounds_since_best += 1
            if rounds_since_best >= PATIENCE:
                break
    return np.asarray(best_counts)


def _first_best(scores: Floats, is_member: npt.NDArray[np.bool_]) -> int:
    """Return the best candidate; among equals one that is a member already, so that ties add none."""
    scores = np.where(np.isnan(scores), -np.inf, scores)
    equal = np.flatnonzero(scores == scores.max())
    members = equal[is_member[equal]]
    return int((members if len(members) else equal)[0])


def _common_rows(
    predictions: Sequence[Array], truth: Array, folds: Array | None, row_weights: Weight
) -> tuple[Array, Array, Array | None, Weight]:
    """Return candidates × rows (× classes), truth, folds and weights of the rows that every candidate predicted.

    The rows come fold by fold, so that each fold is a slice.
    """
    if not len(predictions):
        raise BadRequest("There is no candidate to choose from. Pass at least one array of predictions.")
    arrays = [np.asarray(prediction) for prediction in predictions]
    # Before anything is put together: of large data, often only a part was tested.
    tested = np.logical_and.reduce([np.isfinite(array).reshape(len(array), -1).all(axis=1) for array in arrays])
    if not tested.any():
        raise BadRequest("No row was predicted by every candidate. Pass candidates that share their fold plan.")
    rows = np.flatnonzero(tested)
    if folds is not None:
        rows = rows[np.argsort(np.asarray(folds)[rows], kind="stable")]
    stack = np.stack([array[rows] for array in arrays])
    tested_in = None if folds is None else np.asarray(folds)[rows]
    return stack, np.asarray(truth)[rows], tested_in, some(row_weights, rows)


def _exact(prediction: Array) -> Floats:
    """Return a prediction in double precision, class probabilities summing to exactly what they should."""
    prediction = np.asarray(prediction, dtype=np.float64)
    if prediction.ndim == 1:
        return prediction
    total = prediction.sum(axis=1, keepdims=True)
    return np.where(total > 0, prediction / np.where(total > 0, total, 1.0), 1.0 / prediction.shape[1])


def _some_rows(n_rows: int, seed: int) -> npt.NDArray[np.intp]:
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, MOST_ROWS, replace=False))


def _scores(
    found: Metric,
    batch: Array,
    truth: Array,
    folds: Array | None,
    weight: Weight = None,
    *,
    is_forward: bool = False,
) -> Floats:
    """Return the score of each prediction in a batch: the mean over the folds that define it.

    Where the metric looks at labels, it is the score after thresholds, which those of the other folds decide.
    """
    if found.needs == "labels" and folds is not None:
        judged = partial(
            judge, truth=truth, folds=folds, metric_name=found.name, positive=found.positive, row_weights=weight
        )
        return np.array([judged(item, is_forward=is_forward) for item in batch])
    function = found.batched or partial(_one_by_one, found)
    if folds is None:
        return function(truth, batch, weight)
    edges = [0, *(np.flatnonzero(np.diff(folds)) + 1).tolist(), len(folds)]
    by_fold = np.stack([function(truth[a:b], batch[:, a:b], some(weight, slice(a, b))) for a, b in pairwise(edges)])
    defined = ~np.isnan(by_fold)
    sums, n_defined = np.where(defined, by_fold, 0.0).sum(axis=0), defined.sum(axis=0)
    return np.where(n_defined > 0, sums / np.maximum(n_defined, 1), np.nan)


def _one_by_one(found: Metric, truth: Array, batch: Array, weight: Weight) -> Floats:
    inputs = found.asked(batch)
    with np.errstate(over="ignore"):
        return np.array([found.function(truth, item, weight) for item in inputs])
