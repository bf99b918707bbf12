"""Ranks, as the area under the ROC curve and Spearman's correlation need them."""

import numpy as np

from metaml.arrays import Array, Floats
from metaml.metrics.base import Weight


def ranks(values: Array, weight: Weight = None) -> Floats:
    """Return ranks from 1, equal values sharing their mean rank; a row of weight 2 takes two places.

    >>> ranks(np.array([3, 1, 3])).tolist(), ranks(np.array([3, 1]), np.array([2.0, 1.0])).tolist()
    ([2.5, 1.0, 2.5], [2.5, 1.0])
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    if weight is not None:
        counts = np.bincount(place, weight)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)
