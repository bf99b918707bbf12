"""Landmarkers for regression targets, in our own names: R² of simple learners over two folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.landmarkers import halves
from metaml.metafeatures.neighbour import nearest_share
from metaml.metafeatures.view import View, scaled
from metaml.system.threads import importing

NAMES = ("DecisionStumpR2", "LinearR2", "kNN1NR2", "TreeDepth3R2", "TreeR2")


def regression_landmarkers(view: View) -> Iterator[tuple[str, float | str]]:
    """R² of each learner on the rows it has not seen, at least -1: lower values carry no information."""
    reason = None
    if not view.is_regression:
        reason = "class target"
    elif not view.n_columns:
        reason = "no columns"
    elif view.n_rows < 4 or view.y.min() == view.y.max():
        reason = "fewer than four rows, or the target is constant"
    if reason:
        for name in NAMES:
            yield name, reason
        return
    folds = halves(scaled(view))
    truth = np.concatenate([test.y for _, test in folds]).astype(np.float64)
    for name, learner in _LEARNERS.items():
        yield name, r2(np.concatenate([learner(train, test) for train, test in folds]), truth)


def r2(guesses: Floats, truth: Floats) -> float:
    """The share of the target's variance that the guesses explain, at least -1.

    >>> r2(np.array([1.0, 2.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    0.5
    """
    missed = float(((truth - guesses) ** 2).sum())
    return max(-1.0, 1 - missed / float(((truth - truth.mean()) ** 2).sum()))


def _tree(max_depth: int | None) -> Callable[[View, View], Floats]:
    def learner(train: View, test: View) -> Floats:
        with importing:
            from sklearn.tree import DecisionTreeRegressor

        X, asked = target_encoded(train, test)
        model = DecisionTreeRegressor(max_depth=max_depth, min_samples_leaf=2, random_state=0)
        guesses: Floats = model.fit(X, train.y).predict(asked)
        return guesses

    return learner


def _linear(train: View, test: View) -> Floats:
    """Ridge regression on standardised columns, missing values at the mean."""
    X, asked = target_encoded(train, test)
    known = ~np.isnan(X)
    n = np.maximum(known.sum(axis=0), 1)
    mean = np.nansum(X, axis=0, dtype=np.float64) / n
    Z = np.where(known, X - mean, 0.0)
    spread = np.sqrt((Z**2).sum(axis=0) / n)
    spread = np.where(spread > 1e-9, spread, 1.0)
    Z /= spread
    A = np.where(np.isnan(asked), 0.0, asked - mean) / spread
    centre = float(train.y.mean())
    target = train.y - centre
    # The smaller of the two equivalent systems: columns, or rows where there are more columns than rows.
    if Z.shape[1] <= Z.shape[0]:
        weights = np.linalg.solve(Z.T @ Z + np.eye(Z.shape[1]), Z.T @ target)
    else:
        weights = Z.T @ np.linalg.solve(Z @ Z.T + np.eye(Z.shape[0]), target)
    guesses: Floats = centre + A @ weights
    return guesses


def _neighbour(train: View, test: View) -> Floats:
    return nearest_share(train, test, train.y.astype(np.float64)[:, None])[:, 0]


def target_encoded(train: View, test: View) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as they are, each level as the mean target of its training rows, shrunk to the overall mean."""
    left, right = [train.numbers], [test.numbers]
    overall = float(train.y.mean())
    for a, b in zip(train.codes.T, test.codes.T, strict=True):
        known = a >= 0
        n_levels = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
        n = np.bincount(a[known], minlength=n_levels)
        sums = np.bincount(a[known], weights=train.y[known], minlength=n_levels)
        table = np.append((sums + overall) / (n + 1), overall)
        left.append(table[a][:, None])
        right.append(table[b][:, None])
    return np.hstack(left).astype(np.float32), np.hstack(right).astype(np.float32)


_LEARNERS: dict[str, Callable[[View, View], Floats]] = {
    "DecisionStumpR2": _tree(1),
    "LinearR2": _linear,
    "kNN1NR2": _neighbour,
    "TreeDepth3R2": _tree(3),
    "TreeR2": _tree(None),
}
