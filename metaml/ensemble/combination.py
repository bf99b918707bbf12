"""How the predictions of an ensemble's members become one: the only place that knows it is a weighted mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from metaml.arrays import Array, Floats


def combine(predictions: Sequence[Array] | Array, weights: Array) -> Floats:
    """Return the weighted mean of predictions; those of weight 0 are not looked at.

    >>> combine([np.array([1.0, 2.0]), np.array([3.0, 2.0])], np.array([0.5, 0.5])).tolist()
    [2.0, 2.0]
    """
    return combine_each((predictions[i], float(weight)) for i, weight in enumerate(weights) if weight)


def combine_each(weighted: Iterable[tuple[Array, float]]) -> Floats:
    """Return the weighted mean of predictions that are made one after the other, so that one is in memory at a time.

    >>> combine_each((np.array([value]), weight) for value, weight in [(1.0, 0.25), (2.0, 0.75)]).tolist()
    [1.75]
    """
    total: Floats | float = 0.0
    weights = 0.0
    for prediction, weight in weighted:
        total = total + weight * np.asarray(prediction, dtype=np.float64)
        weights += weight
    return np.asarray(total / weights)
