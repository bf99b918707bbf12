"""Which evaluations an ensemble may choose from: the best of all, and the best of each algorithm.

The best by score alone are often one configuration with small changes. Their mean is hardly better than one of them,
and choosing among hundreds of them fits chance. What errs elsewhere is what an ensemble lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from metaml.arrays import Array

ROWS_PER_CANDIDATE, FEWEST_EACH, MOST_EACH = 2500, 2, 8
"""Selection may look at one candidate of each algorithm for every 2,500 tested rows, but at two at least."""
MOST_COMPARED = 2000
"""Rows by which near-duplicates are found."""
SAME = 0.01
"""Predictions that differ by less than this share of their spread count once."""


def n_each_for(n_rows: int) -> int:
    """Return how many candidates of each algorithm selection may look at, given the tested rows.

    >>> n_each_for(500), n_each_for(10_000), n_each_for(100_000)
    (2, 4, 8)
    """
    return min(max(n_rows // ROWS_PER_CANDIDATE, FEWEST_EACH), MOST_EACH)


def pool(algorithms: Sequence[str], scores: Sequence[float], *, n_best: int, n_each: int) -> list[int]:
    """Return the positions of the `n_best` highest scores and of the `n_each` highest of each algorithm, best first.

    >>> pool(["svm", "svm", "svm", "mlp"], [0.9, 0.8, 0.7, 0.1], n_best=1, n_each=1)
    [0, 3]
    """
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable").tolist()
    taken: Counter[str] = Counter()
    kept = []
    for place, position in enumerate(order):
        name = algorithms[position]
        if place < n_best or taken[name] < n_each:
            kept.append(position)
        taken[name] += 1
    return kept


def distinct(predictions: Sequence[Array]) -> list[int]:
    """Return the positions of the predictions that differ from all before them; give the best first.

    Rows that were not predicted are NaN and do not count.

    >>> distinct([np.array([0.0, 1.0]), np.array([0.0, 1.001]), np.array([1.0, 0.0])])
    [0, 2]
    """
    if not len(predictions):
        return []
    rows = np.flatnonzero(np.logical_and.reduce([np.isfinite(p).reshape(len(p), -1).all(axis=1) for p in predictions]))
    rows = rows[:: max(len(rows) // MOST_COMPARED, 1)]
    parts = [np.asarray(prediction[rows], dtype=np.float64) for prediction in predictions]
    spread = float(np.mean([part.std(axis=0).mean() for part in parts])) if len(rows) else 0.0
    kept: list[int] = []
    for position, part in enumerate(parts):
        if not any(_rms(part - parts[other]) < SAME * spread for other in kept):
            kept.append(position)
    return kept


def _rms(difference: Array) -> float:
    return float(np.sqrt(np.mean(np.square(difference)))) if difference.size else 0.0
