"""Which known data sets are most like a new one, judged by cheap metafeatures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

COMPARED = (
    "NumberOfInstances",
    "NumberOfFeatures",
    "NumberOfClasses",
    "Dimensionality",
    "ClassEntropy",
    "MajorityClassPercentage",
    "PercentageOfBinaryFeatures",
    "PercentageOfNumericFeatures",
    "PercentageOfSymbolicFeatures",
    "PercentageOfMissingValues",
    "PercentageOfInstancesWithMissingValues",
)
"""Van Hoof (2018), table 6.3."""

_LOGARITHMIC = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses", "Dimensionality")


def nearest(values: Mapping[str, float], table: pd.DataFrame, n: int = 3) -> list[tuple[str, float]]:
    """The `n` most similar rows of `table` with their distances, nearest first; ties in the table's order.

    Rows are data sets, columns are metafeatures. The distance is the mean absolute difference over the
    metafeatures that both have, each divided by its spread over the table; counts are compared by their
    logarithm. A row that shares less than half of the metafeatures with `values` is left out.
    """
    names = [name for name in COMPARED if name in table.columns and np.isfinite(values.get(name, np.nan))]
    if not names or table.empty:
        return []
    known = on_scale(table[names].to_numpy(dtype=np.float64), names)
    asked = on_scale(np.array([[float(values[name]) for name in names]]), names)
    gaps = np.abs(known - asked) / _spread(np.vstack([known, asked]))
    shared = np.isfinite(gaps)
    counts = shared.sum(axis=1)
    enough = 2 * counts >= len(names)
    distances = np.where(shared, gaps, 0.0).sum(axis=1) / np.maximum(counts, 1)
    order = np.argsort(np.where(enough, distances, np.inf), kind="stable")
    return [(str(table.index[row]), float(distances[row])) for row in order if enough[row]][:n]


def on_scale(rows: np.ndarray, names: list[str]) -> np.ndarray:
    """Return rows of metafeatures as they are compared: counts by their logarithm, what is undefined as NaN."""
    rows = rows.copy()
    for position, name in enumerate(names):
        if name in _LOGARITHMIC:
            rows[:, position] = np.log(np.maximum(rows[:, position], 0.0) + (name != "Dimensionality"))
    rows[~np.isfinite(rows)] = np.nan
    return rows


def _spread(rows: np.ndarray) -> np.ndarray:
    """The interquartile range of each column, or its standard deviation where half the values agree."""
    spread = np.ones(rows.shape[1])
    for position, column in enumerate(rows.T):
        column = column[np.isfinite(column)]
        low, high = np.quantile(column, [0.25, 0.75])
        spread[position] = high - low if high > low else column.std() or 1.0
    return spread
