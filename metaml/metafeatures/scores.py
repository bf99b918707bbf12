"""How well out-of-fold class probabilities do: Weka's weighted AUC, error rate and kappa."""

from __future__ import annotations

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.view import Ints


def weighted_auc(probabilities: Floats, y: Ints) -> float:
    """One-against-rest areas under the ROC curve, weighted by class size; ties count half.

    >>> weighted_auc(np.array([[0.9, 0.1], [0.4, 0.6], [0.4, 0.6]]), np.array([0, 0, 1]))
    0.75
    """
    from scipy.stats import rankdata

    n_rows, n_classes = probabilities.shape
    sizes = np.bincount(y, minlength=n_classes).astype(np.float64)
    proper = (sizes > 0) & (sizes < n_rows)
    if not proper.any():
        return float("nan")
    # Two models that agree but for rounding must tie, or the area depends on the machine.
    ranks = rankdata(np.round(probabilities, 12), axis=0)
    own = ranks[np.arange(n_rows), y]
    rank_sums = np.bincount(y, weights=own, minlength=n_classes)
    with np.errstate(invalid="ignore", divide="ignore"):
        areas = (rank_sums - sizes * (sizes + 1) / 2) / (sizes * (n_rows - sizes))
    return float(np.average(areas[proper], weights=sizes[proper]))


def error_rate(probabilities: Floats, y: Ints) -> float:
    """The share of rows whose most probable class is not theirs; the first class wins a tie."""
    return float(np.mean(probabilities.argmax(axis=1) != y))


def kappa(probabilities: Floats, y: Ints) -> float:
    """Agreement with the true classes beyond chance (Cohen, 1960); 0 where chance alone would agree fully.

    >>> kappa(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1]))
    0.5
    """
    n_classes = probabilities.shape[1]
    guesses = probabilities.argmax(axis=1)
    agreed = float(np.mean(guesses == y))
    by_chance = float(np.bincount(guesses, minlength=n_classes) @ np.bincount(y, minlength=n_classes) / y.size**2)
    return (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
