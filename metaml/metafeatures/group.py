"""A group of metafeatures: their names, how they are computed and what that costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from metaml.metafeatures.view import View

Compute = Callable[[View], Iterator[tuple[str, float | str]]]
"""Yields each name with its value, or with the reason why it is undefined, as soon as it is known."""


@dataclass(frozen=True)
class Cost:
    """What a group takes on a slow machine, in seconds.

    This fixed estimate alone decides how much of a data set is used, never the clock. So a description is the same on
    every machine that finishes in time.
    """

    fixed: float = 0.0
    per_cell: float = 0.0
    per_column: float = 0.0
    per_cell_and_class: float = 0.0
    per_row_and_class: float = 0.0
    per_row_squared: float = 0.0

    def seconds(self, n_rows: int, n_columns: int, n_classes: int) -> float:
        """The estimated seconds for so many rows, columns and classes."""
        cells = n_rows * n_columns
        n_classes = min(n_classes, n_rows)
        return (
            self.fixed
            + self.per_cell * cells
            + self.per_column * n_columns
            + self.per_cell_and_class * cells * n_classes
            + self.per_row_and_class * n_rows * n_classes
            + self.per_row_squared * n_rows**2
        )


@dataclass(frozen=True)
class Group:
    """Metafeatures that are computed together."""

    names: tuple[str, ...]
    compute: Compute
    cost: Cost = Cost()
    share: float = 1.0
    """The part of the time allowance that the group may plan with."""
    max_rows: int | None = None
    max_columns: int | None = None
    is_free: bool = False
    """The time allowance does not apply to it."""
    libraries: tuple[str, ...] = ()
    """Libraries to import first, which takes seconds in a new process."""
    is_learnt_from: bool = True
    """Meta-learners use it. Runs of OpenML have no value of what OpenML does not compute, and a meta-learner would
    learn from its absence where a run is from."""

    def affordable(self, view: View, seconds: float) -> tuple[int, int]:
        """How many rows and columns of a view fit this much time: rows are halved first, then columns."""
        n_rows = min(view.n_rows, self.max_rows or view.n_rows)
        n_columns = min(view.n_columns, self.max_columns or view.n_columns)
        while n_rows > _LEAST_ROWS and self.cost.seconds(n_rows, n_columns, view.n_classes) > seconds:
            n_rows = max(_LEAST_ROWS, n_rows // 2)
        while n_columns > _LEAST_COLUMNS and self.cost.seconds(n_rows, n_columns, view.n_classes) > seconds:
            n_columns = max(_LEAST_COLUMNS, n_columns // 2)
        return n_rows, n_columns


_LEAST_ROWS = 500
_LEAST_COLUMNS = 50
