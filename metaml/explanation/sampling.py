"""Contributions of any model by sampling: Shapley values from permutations of the columns.

Castro et al. (2009) with antithetic pairs (Mitchell et al. 2022): a row of the background becomes the row to explain,
column by column, in a random order and then in the reverse one; each step is what a column adds. The steps of each walk
sum to the whole way, so that contributions sum to the prediction exactly, whatever the number of walks.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Floats, Positions
from metaml.explanation.contributions import Contributions

if TYPE_CHECKING:
    import pandas as pd

Predict = Callable[["pd.DataFrame"], Floats]
"""From rows to outputs: rows × outputs."""


def sampled_contributions(
    functions: list[Predict],
    X: pd.DataFrame,
    background: pd.DataFrame,
    groups: Positions,
    *,
    n_walks: int,
    rng: np.random.Generator,
) -> Contributions:
    """Return the contributions of groups of columns to the mean of some functions.

    Each function gets `n_walks` pairs of walks, from rows of the background that are drawn evenly over the order of
    what it predicts for them, so that the base is close to the mean prediction.
    """
    n_groups = int(groups.max()) + 1 if len(groups) else 0
    totals = []
    for function in functions:
        outputs = function(background)
        starts = _spread_rows(outputs, n_walks, rng)
        end = function(X)
        values = np.zeros((len(X), n_groups, end.shape[1]))
        for start in starts:
            order = rng.permutation(n_groups)
            for walk in (order, order[::-1]):
                _add_walk(values, function, X, background.iloc[[start]], groups, walk, outputs[start], end)
        totals.append(Contributions(outputs[starts].mean(axis=0), values / (2 * len(starts))))
    base = np.mean([part.base for part in totals], axis=0)
    return Contributions(base, np.mean([part.values for part in totals], axis=0))


def _add_walk(
    values: Floats,
    function: Predict,
    X: pd.DataFrame,
    start: pd.DataFrame,
    groups: Positions,
    order: Positions,
    begin: Floats,
    end: Floats,
) -> None:
    """Add what each group changes on the way from a background row to each row."""
    current = start.iloc[np.zeros(len(X), dtype=np.int64)].set_axis(X.index)
    before = np.broadcast_to(begin, end.shape)
    for step, group in enumerate(order):
        for column in X.columns[groups == group]:
            current[column] = X[column]
        after = end if step == len(order) - 1 else function(current)
        values[:, group] += after - before
        before = after


def _spread_rows(outputs: Floats, n: int, rng: np.random.Generator) -> Positions:
    """Return `n` positions, one from each part of equal size in the order of the outputs."""
    key = outputs[:, -1]
    order = np.lexsort((rng.random(len(key)), key))
    edges = np.linspace(0, len(order), n + 1).astype(np.int64)
    return np.array([order[rng.integers(a, max(b, a + 1))] for a, b in pairwise(edges)])
