"""Numbers cut into few intervals that tell the classes apart (Fayyad and Irani, 1993)."""

from __future__ import annotations

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.view import Ints

_N_BINS = 32


def discretise(numbers: Floats, y: Ints, n_classes: int) -> Ints:
    """Interval codes of each column, -1 = missing; a column that tells nothing has one interval.

    Candidate cuts are the 32-quantiles; a cut is made where it pays for its own description
    (the minimum description length criterion, Fayyad and Irani, 1993, sec. 3).
    """
    n_columns = numbers.shape[1]
    bins = _quantile_bins(numbers)
    if not n_columns:
        return bins
    cell = (np.arange(n_columns) * _N_BINS + np.maximum(bins, 0)) * n_classes + y[:, None]
    counts = np.bincount(cell[bins >= 0], minlength=n_columns * _N_BINS * n_classes)
    below = np.zeros((n_columns, _N_BINS + 1, n_classes))
    below[:, 1:] = counts.reshape(n_columns, _N_BINS, n_classes).cumsum(axis=1)
    is_cut = np.zeros((n_columns, _N_BINS + 1), dtype=bool)
    columns = np.arange(n_columns)
    low, high = np.zeros(n_columns, dtype=np.int64), np.full(n_columns, _N_BINS)
    while columns.size:
        cut, accepted = _best_cuts(below[columns], low, high)
        columns, low, cut, high = columns[accepted], low[accepted], cut[accepted], high[accepted]
        is_cut[columns, cut] = True
        columns = np.concatenate([columns, columns])
        low, high = np.concatenate([low, cut]), np.concatenate([cut, high])
    interval = is_cut.cumsum(axis=1)
    codes: Ints = np.where(bins >= 0, interval[np.arange(n_columns), np.maximum(bins, 0)], -1)
    return codes


def _quantile_bins(numbers: Floats) -> Ints:
    bins = np.full(numbers.shape, -1, dtype=np.int64)
    ordered = np.sort(numbers, axis=0)
    known = np.count_nonzero(~np.isnan(numbers), axis=0)
    for position, n_known in enumerate(known):
        if n_known:
            edges = np.unique(ordered[np.arange(1, _N_BINS) * n_known // _N_BINS, position])
            column = numbers[:, position]
            bins[:, position] = np.where(np.isnan(column), -1, np.searchsorted(edges, column, side="right"))
    return bins


def _best_cuts(below: Floats, low: Ints, high: Ints) -> tuple[Ints, np.ndarray]:
    """Of each segment [low, high) of bins: the cut of least class entropy, and whether it pays."""
    rows = np.arange(len(below))
    start, end = below[rows, low], below[rows, high]
    whole = end - start
    left = below - start[:, None]
    right = end[:, None] - below
    n, n_left, n_right = whole.sum(-1), left.sum(-1), right.sum(-1)
    entropy, entropy_left, entropy_right = _entropies(whole), _entropies(left), _entropies(right)
    positions = np.arange(below.shape[1])
    possible = (positions > low[:, None]) & (positions < high[:, None]) & (n_left > 0) & (n_right > 0)
    after = np.where(possible, (n_left * entropy_left + n_right * entropy_right) / np.maximum(n, 1)[:, None], np.inf)
    cut = after.argmin(axis=1)
    gain = entropy - after[rows, cut]
    k, k_left, k_right = ((c > 0).sum(-1) for c in (whole, left[rows, cut], right[rows, cut]))
    # log2(3^k - 2) is k log2 3 but for tiny k, and must not overflow for many classes.
    choices = k * np.log2(3) + np.log2(np.maximum(1 - 2 * 3.0 ** -k.astype(np.float64), 1e-9))
    delta = choices - (k * entropy - k_left * entropy_left[rows, cut] - k_right * entropy_right[rows, cut])
    cost = (np.log2(np.maximum(n - 1, 1)) + delta) / np.maximum(n, 1)
    return cut, possible.any(axis=1) & (gain > cost)


def _entropies(counts: Floats) -> Floats:
    total = np.maximum(counts.sum(-1, keepdims=True), 1)
    share = np.maximum(counts, 0) / total
    bits: Floats = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(-1)
    return bits
