"""What the out-of-fold predictions of a model say about it: confusion, calibration, residuals, important columns."""

import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.budget import Budget
from metaml.evaluation.scoring import confusion
from metaml.metrics.base import mean_over_rows, some
from metaml.report.data import CalibrationBin, Confusion, FeatureImportance

Predict = Callable[[pd.DataFrame], Array]
MOST_POINTS = 500


def confusion_of(
    truth: Array, predicted: Array, labels: Sequence[object], row_weights: Floats | None = None
) -> Confusion | None:
    """Return the confusion matrix of integer codes; a code below 0 is a row without a prediction.

    With weights, a cell is the weight of its rows.

    >>> confusion_of(np.array([0, 1, 1]), np.array([0, 1, 0]), ["no", "yes"]).counts
    [[1.0, 0.0], [1.0, 1.0]]
    """
    seen = predicted >= 0
    if not seen.any():
        return None
    size = len(labels)
    counts = np.zeros((size, size))
    found = confusion(truth[seen], predicted[seen], some(row_weights, seen))
    counts[: len(found), : len(found)] = found
    return Confusion([str(label) for label in labels], counts.tolist())


def calibration_bins(
    truth: Array, probabilities: Array, n_bins: int = 10, row_weights: Floats | None = None
) -> list[CalibrationBin]:
    """Return how often what was predicted came true, in bins of equal width that hold at least one row.

    With two classes it is the probability of the second one; with more, that of the predicted class
    (Guo et al. 2017, sec. 2). Rows whose probabilities are NaN were not predicted.

    >>> calibration_bins(np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.8, 0.2], [0.1, 0.9]]), n_bins=2)
    [CalibrationBin(predicted=0.2, observed=0.5, n_rows=2), CalibrationBin(predicted=0.9, observed=1.0, n_rows=1)]
    """
    seen = np.isfinite(probabilities).all(axis=1)
    truth, probabilities = truth[seen], np.asarray(probabilities[seen], dtype=np.float64)
    if probabilities.shape[1] == 2:
        predicted, came_true = probabilities[:, 1], truth == 1
    else:
        predicted, came_true = probabilities.max(axis=1, initial=0.0), truth == probabilities.argmax(axis=1)
    place = np.clip((predicted * n_bins).astype(np.int64), 0, n_bins - 1)
    weight = some(row_weights, seen)
    found = []
    for inside in (place == number for number in range(n_bins)):
        if inside.any():
            own = some(weight, inside)
            means = mean_over_rows(predicted[inside], own), mean_over_rows(came_true[inside], own)
            found.append(CalibrationBin(*means, int(inside.sum())))
    return found


def residual_sample(
    truth: Array, predicted: Array, rng: np.random.Generator, most: int = MOST_POINTS
) -> list[tuple[float, float]]:
    """Return at most this many random pairs of truth and prediction; rows without a prediction are left out."""
    rows = np.flatnonzero(np.isfinite(predicted) & np.isfinite(truth))
    if len(rows) > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    return [(float(truth[row]), float(predicted[row])) for row in rows]


def feature_importance(
    models: Sequence[tuple[Predict, Array]],
    X: pd.DataFrame,
    truth: Array,
    score: Callable[..., float],
    *,
    rng: np.random.Generator,
    budget: Budget,
    n_repeats: int = 3,
    most_rows: int = 2000,
    row_weights: Floats | None = None,
) -> list[FeatureImportance]:
    """Return the columns by how much the score falls when they are shuffled (Breiman 2001, sec. 10), best first.

    `models` are pairs of a fold model's predict function and the rows it was not fitted to; at most `most_rows` of
    these are used. `score` takes truth and prediction, and the weight of each row if there are `row_weights`. Every
    column is shuffled once before any is shuffled twice. If the budget ends before every column was shuffled once,
    nothing is returned, because a list with gaps would mislead.
    """
    folds = [
        (predict, rows if len(rows) <= most_rows else rng.choice(rows, most_rows, False)) for predict, rows in models
    ]
    tested = [(predict, rows) for predict, rows in folds if len(rows) > 1]
    whole = [(predict, X.iloc[rows], truth[rows]) for predict, rows in tested]
    weights = [() if row_weights is None else (row_weights[rows],) for _, rows in tested]
    before = [score(y, predict(rows), *weight) for (predict, rows, y), weight in zip(whole, weights, strict=True)]
    falls: dict[str, list[float]] = {str(column): [] for column in X.columns}
    for repeat in range(n_repeats):
        for column in X.columns:
            for (predict, rows, y), weight, unharmed in zip(whole, weights, before, strict=True):
                if budget.is_used_up:
                    return _ordered(falls, n_whole=repeat * len(whole))
                shuffled = rows.copy()
                shuffled[column] = rows[column].to_numpy()[rng.permutation(len(rows))]
                # Shuffled values of a category lose their levels on the way through numpy.
                shuffled[column] = shuffled[column].astype(X[column].dtype)
                falls[str(column)].append(unharmed - score(y, predict(shuffled), *weight))
    return _ordered(falls, n_whole=n_repeats * len(whole))


def _ordered(falls: dict[str, list[float]], n_whole: int) -> list[FeatureImportance]:
    """Return the mean fall of each column over the first `n_whole` measurements, which all columns have."""
    found = []
    for column, values in falls.items():
        defined = [value for value in values[:n_whole] if math.isfinite(value)]
        if defined:
            found.append(FeatureImportance(column, statistics.fmean(defined), statistics.pstdev(defined)))
    return sorted(found, key=lambda item: -item.mean)
