"""The nearest neighbour: the distance of Weka's IBk, missing values and categories included."""

from __future__ import annotations

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.view import View


def nearest_share(train: View, test: View, targets: Floats) -> Floats:
    """The mean of `targets` (one row per training row) over each test row's nearest neighbours.

    Numbers are scaled to [0, 1] by the training rows; different categories are at distance 1; a missing
    value is as far away as it could be (Aha, Kibler and Albert, 1991). All rows at the smallest distance
    count, which matters where rows repeat.
    """
    left, right = _factors(train, test)
    squared = left @ right.T
    smallest = squared.min(axis=1, keepdims=True)
    scale = np.einsum("ij,ij->i", left, left)[:, None] + np.abs(smallest)
    nearest = (squared <= smallest + 1e-12 * scale).astype(np.float64)
    share: Floats = (nearest @ targets) / nearest.sum(axis=1, keepdims=True)
    return share


def _factors(train: View, test: View) -> tuple[Floats, Floats]:
    """Two matrices whose product is the squared distance of every test row to every training row."""
    test_numbers, train_numbers = _scaled(train.numbers, test.numbers)
    left, right = [], []
    seen, known = ~np.isnan(test_numbers), ~np.isnan(train_numbers)
    # Around the training mean the expanded square below loses no digits.
    centre = np.nan_to_num(_column_means(train_numbers))
    a = np.where(seen, test_numbers - centre, 0.0)
    b = np.where(known, train_numbers - centre, 0.0)
    holes = ~(seen.all(axis=0) & known.all(axis=0))
    whole = ~holes
    left += [(a[:, whole] ** 2).sum(axis=1, keepdims=True), np.ones((len(a), 1)), -2 * a[:, whole]]
    right += [np.ones((len(b), 1)), (b[:, whole] ** 2).sum(axis=1, keepdims=True), b[:, whole]]
    if holes.any():
        a, b, s, k = a[:, holes], b[:, holes], seen[:, holes] * 1.0, known[:, holes] * 1.0
        far_a, far_b = _farthest(test_numbers[:, holes]), _farthest(train_numbers[:, holes])
        left += [a**2, -2 * a, s, far_a, 1 - s, 1 - s]
        right += [k, b, b**2, 1 - k, far_b, 1 - k]
    if train.codes.shape[1]:
        # Two different categories are at distance 1, so: the number of columns less the matches.
        test_levels, train_levels = _indicators(test.codes, train.codes)
        left += [np.full((len(a), 1), float(train.codes.shape[1])), -test_levels]
        right += [np.ones((len(b), 1)), train_levels]
    return np.hstack(left), np.hstack(right)


def _scaled(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    low, high = np.fmin.reduce(train, axis=0), np.fmax.reduce(train, axis=0)
    low = np.nan_to_num(low)
    width = np.where(high > low, high - low, 1.0)
    return (test - low) / width, (train - low) / width


def _column_means(numbers: Floats) -> Floats:
    n = np.maximum(np.count_nonzero(~np.isnan(numbers), axis=0), 1)
    means: Floats = np.nansum(numbers, axis=0) / n
    return means


def _farthest(numbers: Floats) -> Floats:
    """The squared distance of a known value to a missing one; 0 where it is itself missing."""
    squares: Floats = np.nan_to_num(np.maximum(numbers, 1 - numbers) ** 2)
    return squares


def _indicators(test: np.ndarray, train: np.ndarray) -> tuple[Floats, Floats]:
    """One column per level that occurs on both sides."""
    left, right = [], []
    for a, b in zip(test.T, train.T, strict=True):
        levels = np.intersect1d(a[a >= 0], b[b >= 0])
        left.append(a[:, None] == levels)
        right.append(b[:, None] == levels)
    return np.hstack(left).astype(np.float64), np.hstack(right).astype(np.float64)
