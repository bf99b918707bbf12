"""Ranks, as the area under the ROC curve and Spearman's correlation need them."""

import numpy as np

from metaml.arrays import Array, Floats


def ranks(values: Array) -> Floats:
    """Return ranks from 1, equal values sharing their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)
