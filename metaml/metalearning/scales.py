"""Scores of one data set on a scale that is common to all data sets."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from metaml.arrays import Floats, Positions
from metaml.metrics import METRICS
from metaml.metrics.own import named

Target = Literal["standard", "normal"]

SMALLEST_SD = 1e-9
"""Scores that differ by less, relative to their size, are equal up to rounding."""


def comparable(scores: Floats, metric: str | None) -> Floats:
    """Return scores whose differences are comparable between data sets: for losses with a unit, logarithms.

    >>> comparable(np.array([-10.0, -5.0]), "neg_rmse").round(3).tolist()
    [-2.303, -1.609]
    """
    if not _is_in_target_unit(metric) or not len(scores):
        return scores
    losses = -scores
    logs: Floats = -np.log(np.maximum(losses, SMALLEST_SD * losses.max() or 1.0))
    return logs


def as_scored(mean: Floats, std: Floats, metric: str | None) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of comparable scores, converted back to the metric.

    >>> as_scored(np.array([0.0]), np.array([0.1]), "neg_rmse")
    (array([-1.]), array([0.1]))
    """
    if not _is_in_target_unit(metric):
        return mean, std
    losses = np.exp(-mean)
    return -losses, losses * std


def standardised(y: Floats) -> Floats:
    """Return scores less their mean, in units of their standard deviation; zeros where all are equal.

    >>> standardised(np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [-1.225, 0.0, 1.225]
    >>> standardised(np.array([0.7, 0.7])).tolist()
    [0.0, 0.0]
    """
    if not len(y):
        return y
    sd = float(y.std())
    if sd <= SMALLEST_SD * max(1.0, float(np.abs(y).max())):
        return np.zeros(len(y))
    scaled: Floats = (y - y.mean()) / sd
    return scaled


def normal_scores(y: Floats) -> Floats:
    """Return the normal quantile of (rank - 1/2) / n, ties sharing their mean rank; zeros where all are equal.

    >>> normal_scores(np.array([0.1, 0.9, 0.5])).round(3).tolist()
    [-0.967, 0.967, 0.0]
    """
    from scipy.special import ndtri

    values, position, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(values) < 2:
        return np.zeros(len(y))
    ranks = np.cumsum(counts) - (counts - 1) / 2
    scaled: Floats = ndtri((ranks - 0.5) / len(y))[position]
    return scaled


SCALES: dict[Target, Callable[[Floats], Floats]] = {"standard": standardised, "normal": normal_scores}


def within_groups(y: Floats, groups: Positions, scale: Callable[[Floats], Floats]) -> Floats:
    """Return the scores, each scaled within its own group.

    >>> within_groups(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), standardised).tolist()
    [-1.0, 1.0, 0.0]
    """
    scaled = np.zeros(len(y))
    order = np.argsort(groups, kind="stable")
    edges = np.flatnonzero(np.diff(groups[order])) + 1
    for places in np.split(order, edges):
        scaled[places] = scale(y[places])
    return scaled


def _is_in_target_unit(metric: str | None) -> bool:
    """Return whether a metric has the unit of the target; False for None or an unregistered name."""
    known = None if metric is None else METRICS.get(metric) or named(metric)
    return known is not None and known.is_in_target_unit
