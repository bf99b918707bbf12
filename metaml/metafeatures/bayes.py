"""Naive Bayes as in Weka: a normal density per number, a table of counts per category."""

from __future__ import annotations

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.view import View

_LEAST = 1e-75


def naive_bayes(train: View, test: View) -> Floats:
    """Class probabilities of the test rows; missing values take no part (John and Langley, 1995)."""
    n_classes = train.n_classes
    member = np.eye(n_classes)[train.y.astype(np.int64)]
    sizes = member.sum(axis=0)
    log = np.log((sizes + 1) / (sizes.sum() + n_classes))[None, :].repeat(test.n_rows, axis=0)
    log += _numbers(train.numbers, test.numbers, member)
    for column, asked in zip(train.codes.T, test.codes.T, strict=True):
        n_levels = int(max(column.max(initial=-1), asked.max(initial=-1))) + 1
        if not n_levels:
            continue
        known = column >= 0
        counts = np.zeros((n_levels, n_classes))
        np.add.at(counts, column[known], member[known])
        n_seen = max(1, int(np.count_nonzero(counts.sum(axis=1))))
        table = np.log((counts + 1) / (counts.sum(axis=0) + n_seen))
        log += np.where(asked[:, None] >= 0, table[asked], 0.0)
    log -= log.max(axis=1, keepdims=True)
    likelihoods = np.exp(log)
    probabilities: Floats = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    return probabilities


def _numbers(train: Floats, test: Floats, member: Floats) -> Floats:
    """Sum over the numeric columns of the log probability of an interval around each value."""
    from scipy.special import ndtr

    log = np.zeros((len(test), member.shape[1]))
    if not train.shape[1]:
        return log
    step = _precision(train)
    known = ~np.isnan(train)
    values = np.where(known, np.round(train / step) * step, 0.0)
    centre = values.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    values = np.where(known, values - centre, 0.0)
    asked = np.round(test / step) * step - centre
    n = member.T @ known
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(n > 0, member.T @ values / n, 0.0)
        variances = np.where(n > 0, member.T @ values**2 / n - means**2, 0.0)
    deviations = np.maximum(np.sqrt(np.maximum(variances, 0.0)), step / 6)
    for position in range(member.shape[1]):
        z = (asked - means[position]) / deviations[position]
        half = step / (2 * deviations[position])
        # By symmetry the interval is taken in the left tail, where the difference keeps its digits.
        z = -np.abs(z)
        density = ndtr(z + half) - ndtr(z - half)
        log[:, position] = np.where(np.isnan(asked), 0.0, np.log(np.maximum(density, _LEAST))).sum(axis=1)
    return log


def _precision(numbers: Floats) -> Floats:
    """The mean gap between neighbouring values of each column, 0.01 where there is no gap."""
    ordered = np.sort(numbers, axis=0)
    gaps = np.diff(ordered, axis=0)
    counted = np.nan_to_num(gaps) > 0
    n = counted.sum(axis=0)
    total = np.where(counted, gaps, 0.0).sum(axis=0)
    return np.where(n > 0, total / np.maximum(n, 1), 0.01)
