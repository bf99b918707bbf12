"""A data set that learners can use: numbers and categories, a target, and what was done to get there."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.data.columns import Column, Repair
from metaml.data.roles import NO_ROLES, Roles
from metaml.data.schema import Schema
from metaml.data.split_hints import SplitHint
from metaml.data.task import Task


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features, target and provenance of one table.

    `X` has a RangeIndex; each column is float64 (NaN = missing, never infinite; booleans are 0/1, dates are
    expanded) or an unordered `category` with sorted text levels. `y` holds int64 codes into `labels`, or
    float64 for regression, and has no missing values. `labels` are the original labels in their original type.
    `columns` are the raw columns without the target, used or not. `rows` are the positions of the used rows in
    the raw table. `ignored` are the raw columns that the user left out. `warnings` are sentences about what is
    suspicious, such as a column that alone nearly determines the target. `roles` are what other columns are for, such
    as groups or weights; `hints` are about columns that look like time or groups and were not said to be. `ranking` has
    the raw columns, the most useful first, for a search that tries fewer of them; it is empty if nobody asked.
    """

    name: str
    X: pd.DataFrame
    y: Array
    target: str
    task: Task
    labels: Array | None
    columns: tuple[Column, ...]
    repairs: tuple[Repair, ...]
    fingerprint: str
    schema: Schema
    rows: npt.NDArray[np.intp]
    target_was_guessed: bool = False
    ignored: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    roles: Roles = NO_ROLES
    hints: tuple[SplitHint, ...] = ()
    ranking: tuple[str, ...] = ()

    @property
    def directions(self) -> dict[str, int]:
        """Return the features with which the prediction may only rise (1), or only fall (-1)."""
        said = self.roles.options.directions
        return {item.outputs[0]: said[item.source] for item in self.schema.features if item.source in said}

    @property
    def row_weights(self) -> Floats | None:
        """Return how much each row counts; None if all count the same."""
        return self.roles.weights

    def weights_of(self, rows: npt.NDArray[np.intp]) -> Floats | None:
        """Return how much each of these rows counts; None if all rows count the same."""
        return None if self.row_weights is None else self.row_weights[rows]

    def part(self, rows: npt.NDArray[np.intp]) -> "Dataset":
        """Return the data set of some of the rows, under the same fingerprint: for work that is not stored."""
        X = self.X.iloc[rows].reset_index(drop=True)
        return replace(self, X=X, y=self.y[rows], rows=self.rows[rows], roles=self.roles.only(rows))

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        shape = f"{n_rows} rows, {n_features} features"
        return f"Dataset({self.name!r}, {self.task}, {shape}, target {self.target!r})"
