"""Means, deviations and quantiles of columns whose rows have weights: a row of weight 2 counts as two rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaml.algorithms.base import Matrix, Vector
from metaml.arrays import Floats


def weighted_moments(columns: Matrix, weight: Vector) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of each column; no cell is missing.

    >>> means, deviations = weighted_moments(np.array([[0.0], [3.0]]), np.array([2.0, 1.0]))
    >>> means.tolist(), (deviations**2).round(6).tolist()
    ([1.0], [2.0])
    """
    means = np.average(columns, axis=0, weights=weight)
    return means, np.sqrt(np.average((columns - means) ** 2, axis=0, weights=weight))


def weighted_quantiles(values: Vector, weight: Vector, shares: Sequence[float]) -> Floats:
    """Return quantiles of values, none missing: those of `numpy.quantile` if each row were there as often as it weighs.

    If a row weighs less than 1, the lightest one counts as one row.

    >>> weighted_quantiles(np.array([1.0, 2.0, 9.0]), np.array([1.0, 2.0, 1.0]), [0.5, 1.0]).tolist()
    [2.0, 9.0]
    """
    used = weight > 0
    order = np.argsort(values[used], kind="stable")
    values, weight = values[used][order], weight[used][order]
    unit = min(1.0, float(weight.min()))
    ends = np.cumsum(weight)
    places = np.column_stack([ends - weight, ends - unit]).ravel()
    return np.asarray(np.interp(np.asarray(shares) * (ends[-1] - unit), places, np.repeat(values, 2)))


def weighted_middles(columns: Matrix, weight: Vector, *, is_median: bool) -> Floats:
    """Return the median, or the mean, of each column's known values; 0 for a column that has none.

    >>> weighted_middles(np.array([[1.0], [np.nan], [4.0]]), np.array([2.0, 5.0, 1.0]), is_median=False).tolist()
    [2.0]
    """
    found = np.zeros(columns.shape[1])
    for place, column in enumerate(columns.T):
        known = ~np.isnan(column)
        if weight[known].any() and is_median:
            found[place] = weighted_quantiles(column[known], weight[known], [0.5])[0]
        elif weight[known].any():
            found[place] = np.average(column[known], weights=weight[known])
    return found
