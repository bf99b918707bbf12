"""Columns as a few points: what base learners see of a column, and what an additive model keeps of its effect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaml.arrays import Array, Floats

MOST_POINTS = 64
"""A numeric column with more distinct values becomes the means of so many equally full bins."""

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Grid:
    """A column's points, ascending; of a category, its codes. Missing values have a code of their own, the last."""

    points: Floats
    is_category: bool

    @property
    def n_codes(self) -> int:
        """Return the number of codes: the points, and one for missing values."""
        return len(self.points) + 1

    def codes(self, values: Array) -> Codes:
        """Return the point nearest to each value; missing values, and unknown categories, get the last code.

        >>> Grid(np.array([0.0, 1.0, 5.0]), is_category=False).codes(np.array([0.4, 4.0, 9.0, np.nan])).tolist()
        [0, 2, 2, 3]
        """
        values = np.asarray(values, dtype=np.float64)
        middles = (self.points[1:] + self.points[:-1]) / 2
        found = np.searchsorted(middles, np.nan_to_num(values), side="right")
        is_unknown = np.isnan(values)
        if self.is_category and len(self.points):
            is_unknown |= self.points[found] != values
        return np.where(is_unknown, len(self.points), found).astype(np.int32)

    def interpolated(self, values: Array, effect: Floats) -> Floats:
        """Return the effect at each value, given the effect at each code; numbers between two points are interpolated.

        >>> grid = Grid(np.array([0.0, 2.0]), is_category=False)
        >>> grid.interpolated(np.array([1.0, 7.0, np.nan]), np.array([0.0, 4.0, -1.0])).tolist()
        [2.0, 4.0, -1.0]
        """
        if self.is_category or len(self.points) < 2:
            return np.asarray(effect[self.codes(values)], dtype=np.float64)
        values = np.asarray(values, dtype=np.float64)
        between = np.interp(np.nan_to_num(values), self.points, effect[:-1])
        return np.asarray(np.where(np.isnan(values), effect[-1], between), dtype=np.float64)


class Steps(Grid):
    """A column of numbers cut at the points; a number at a point is right of it, and nothing is interpolated."""

    @property
    def n_codes(self) -> int:
        """Return the number of codes: the steps, and one for missing values."""
        return len(self.points) + 2

    def codes(self, values: Array) -> Codes:
        """Return the step of each value; missing values get the last code.

        >>> Steps(np.array([0.0, 5.0]), is_category=False).codes(np.array([-1.0, 0.0, 9.0, np.nan])).tolist()
        [0, 1, 2, 3]
        """
        values = np.asarray(values, dtype=np.float64)
        found = np.searchsorted(self.points, np.nan_to_num(values), side="right")
        return np.where(np.isnan(values), len(self.points) + 1, found).astype(np.int32)

    def interpolated(self, values: Array, effect: Floats) -> Floats:
        """Return the effect of the step of each value."""
        return np.asarray(effect[self.codes(values)], dtype=np.float64)


def value_grid(values: Array, *, is_category: bool, most: int = MOST_POINTS) -> Grid:
    """Return the grid of a column's training values, with at most so many points if they are numbers."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    points = np.unique(known)
    if not is_category and len(points) > most:
        edges = np.unique(np.quantile(known, np.linspace(0, 1, most + 1)[1:-1]))
        bins = np.searchsorted(edges, known, side="right")
        counts = np.bincount(bins, minlength=len(edges) + 1)
        # Divided first, so that the sum of very large values is finite.
        sums = np.bincount(bins, weights=known / len(known), minlength=len(edges) + 1)
        points = np.unique(sums[counts > 0] / counts[counts > 0] * len(known))
    return Grid(points, is_category)
