"""Scales in which scores are easier to model."""

from collections.abc import Callable

import numpy as np

from metaml.arrays import Floats


def raw(y: Floats) -> Floats:
    """Return scores centred on their mean, in units of their standard deviation."""
    spread = float(y.std())
    scaled: Floats = (y - y.mean()) / (spread if spread > 0 else 1.0)
    return scaled


def clip(y: Floats) -> Floats:
    """Return scores in robust units, cut where a bad outlier would hide differences at the top.

    The unit is the spread of the upper half, so a few disasters do not flatten the rest.
    """
    middle = float(np.median(y))
    above = y[y >= middle] - middle
    unit = float(np.sqrt(np.mean(above**2)))
    if unit <= 0:
        return raw(y)
    return raw(np.maximum((y - middle) / unit, -2.0))


def rank(y: Floats) -> Floats:
    """Return normal scores of the ranks: the quantile of (rank - 1/2) / n, ties sharing their mean rank.

    >>> rank(np.array([0.1, 0.9, 0.5])).round(3).tolist()
    [-0.967, 0.967, 0.0]
    """
    from scipy.special import ndtri

    values, position, counts = np.unique(y, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(counts) - (counts - 1) / 2
    normal: Floats = ndtri((mean_rank - 0.5) / len(y))
    return normal[position] if len(values) > 1 else np.zeros(len(y))


def blend(y: Floats) -> Floats:
    """Return the mean of the robust and the rank scale: order, and some of the distances."""
    return 0.5 * (clip(y) + rank(y))


TARGETS: dict[str, Callable[[Floats], Floats]] = {"raw": raw, "clip": clip, "rank": rank, "blend": blend}
