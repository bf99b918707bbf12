"""What a network sees of a table: each number as it is, and how far it fills each of the intervals of its column."""

from __future__ import annotations

import numpy as np

from metaml.algorithms.base import Matrix

_MOST_INPUTS = 640
_FEWEST_VALUES = 9
"""A column of fewer values has no intervals."""
_FEWEST_BINS = 3
_ROWS_LOOKED_AT = 5000
_FARTHEST = 10.0
"""Numbers are scaled before; what is farther from zero is an outlier."""


class Inputs:
    """Piecewise linear encoding of numbers (Gorishniy et al. 2022, eq. 1), beside the numbers themselves.

    A column is cut at quantiles of the training rows into intervals, whose values grow from 0 to 1 one after another.
    So a linear layer can be any broken line of a column. With many columns there are fewer intervals, or none.

    >>> inputs = Inputs(np.arange(13, dtype=np.float32)[:, np.newaxis] / 2, n_bins=4)
    >>> inputs.of(np.array([[2.0]])).tolist()
    [[2.0, 1.0, 0.3333333432674408, 0.0, 0.0]]
    """

    def __init__(self, Z: Matrix, n_bins: int) -> None:
        rows = np.clip(Z[:: max(1, len(Z) // _ROWS_LOOKED_AT)], -_FARTHEST, _FARTHEST)
        many = [place for place, column in enumerate(rows.T) if len(np.unique(column)) >= _FEWEST_VALUES]
        n_bins = min(n_bins, (_MOST_INPUTS - Z.shape[1]) // max(len(many), 1))
        if n_bins < _FEWEST_BINS:
            many = []
        cuts = np.quantile(rows[:, many], np.linspace(0, 1, n_bins + 1), axis=0) if many else np.zeros((2, 0))
        widths = np.diff(cuts, axis=0).T
        self.columns = np.array(many, dtype=np.int64)
        self.low = np.ascontiguousarray(cuts[:-1].T, dtype=np.float32)
        # Quantiles that coincide are an interval without rows: it stays 0.
        self.slope = np.where(widths > 0, 1 / np.where(widths > 0, widths, 1.0), 0.0).astype(np.float32)

    @property
    def n_added(self) -> int:
        """Return how many inputs there are beside the columns."""
        return int(self.low.size)

    def of(self, Z: Matrix) -> Matrix:
        """Return the inputs of some rows."""
        n_rows, n_columns = Z.shape
        result = np.empty((n_rows, n_columns + self.n_added), dtype=np.float32)
        numbers, added = result[:, :n_columns], result[:, n_columns:]
        np.clip(Z, -_FARTHEST, _FARTHEST, out=numbers)
        if self.n_added:
            parts = added.reshape(n_rows, *self.low.shape, copy=False)
            np.subtract(numbers[:, self.columns, np.newaxis], self.low, out=parts)
            parts *= self.slope
            np.clip(parts, 0.0, 1.0, out=parts)
        return result
