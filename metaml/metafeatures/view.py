"""A data set as two plain matrices, numbers and codes, which is all that the metafeatures look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metaml.arrays import Floats

if TYPE_CHECKING:
    from metaml.data import Dataset

Ints = NDArray[np.int64]

_SUBSAMPLE_SEED = 20180


@dataclass(frozen=True, eq=False)
class View:
    """Numeric columns, categorical columns and target of a data set, or of some of its rows and columns."""

    numbers: Floats
    """One column per numeric feature; NaN = missing."""
    codes: Ints
    """One column per categorical or boolean feature; levels are 0, 1, 2 ...; -1 = missing."""
    y: Floats | Ints
    """Class codes 0..k-1, or the regression target."""
    n_classes: int
    """Classes that occur in the whole data set; 0 for a regression target."""
    task: Literal["binary", "multiclass", "regression"]
    groups: Ints | None = None
    """Which rows belong together, if that is known: landmarkers are tested on groups that they have not seen."""
    times: Floats | None = None
    """When rows were observed, if that is known: landmarkers are tested on rows that are later."""

    @property
    def n_rows(self) -> int:
        """Rows in this view."""
        return int(self.y.shape[0])

    @property
    def n_columns(self) -> int:
        """Features in this view, the target not counted."""
        return int(self.numbers.shape[1] + self.codes.shape[1])

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number rather than a class."""
        return self.task == "regression"

    def take(self, rows: Ints) -> View:
        """The same columns, only these rows."""
        groups = None if self.groups is None else self.groups[rows]
        times = None if self.times is None else self.times[rows]
        return replace(
            self, numbers=self.numbers[rows], codes=self.codes[rows], y=self.y[rows], groups=groups, times=times
        )

    def keep(self, numbers: Ints, codes: Ints) -> View:
        """The same rows, only these numeric and these categorical columns (by position)."""
        return replace(self, numbers=self.numbers[:, numbers], codes=self.codes[:, codes])


def view_of(dataset: Dataset) -> View:
    """The whole data set as a view; booleans, held as 0 and 1 in a data set, count as categories again."""
    X = dataset.X
    booleans = {column.name for column in dataset.columns if column.kind == "boolean"}
    is_number = np.array(
        [
            not isinstance(dtype, pd.CategoricalDtype) and name not in booleans
            for name, dtype in zip(X.columns, X.dtypes, strict=True)
        ],
        dtype=bool,
    )
    others = np.flatnonzero(~is_number)
    codes = np.empty((len(X), others.size), dtype=np.int64, order="F")
    # One pass over all columns is quicker than many look-ups, few look-ups are quicker than one pass.
    found: Iterable[pd.Series]
    if 2 * others.size > is_number.size:
        found = (column for (_, column), number in zip(X.items(), is_number, strict=True) if not number)
    else:
        found = (X[name] for name in X.columns[others])
    for position, column in enumerate(found):
        # The array behind a column is at hand; `column.cat.codes` would build a Series for each.
        values = column.array
        codes[:, position] = values.codes if isinstance(values, pd.Categorical) else _as_codes(column)
    return View(
        numbers=X.iloc[:, np.flatnonzero(is_number)].to_numpy(dtype=np.float64),
        codes=codes,
        y=dataset.y,
        n_classes=0 if dataset.task == "regression" else int(np.unique(dataset.y).size),
        task=dataset.task,
        groups=dataset.roles.groups,
        times=dataset.roles.times,
    )


def _as_codes(column: pd.Series) -> Ints:
    values = column.to_numpy(dtype=np.float64)
    return np.where(np.isnan(values), -1, values).astype(np.int64)


def small_sample(view: View, max_rows: int, max_columns: int) -> View:
    """At most so many rows and columns, and always the same ones."""
    rng = np.random.default_rng(_SUBSAMPLE_SEED)
    if view.n_rows > max_rows:
        view = view.take(np.sort(rng.permutation(view.n_rows)[:max_rows]))
    if view.n_columns > max_columns:
        kept = np.sort(rng.permutation(view.n_columns)[:max_columns])
        n_numbers = view.numbers.shape[1]
        view = view.keep(kept[kept < n_numbers], kept[kept >= n_numbers] - n_numbers)
    return view


def scaled(view: View) -> View:
    """The same view with every number in [0, 1] and only the classes that occur, for learners.

    The scale of a column does not matter to our learners, but 1e200 overflows in single precision or when squared.
    """
    y: Floats | Ints
    if view.is_regression:
        y = _between_0_and_1(view.y.astype(np.float64)[:, None])[:, 0]
        return replace(view, numbers=_between_0_and_1(view.numbers), y=y)
    classes, y = np.unique(view.y, return_inverse=True)
    return replace(view, numbers=_between_0_and_1(view.numbers), y=y, n_classes=int(classes.size))


def _between_0_and_1(numbers: Floats) -> Floats:
    if not numbers.size:
        return numbers
    largest = np.fmax.reduce(np.abs(numbers), axis=0)
    numbers = numbers / np.where(largest > 0, largest, 1.0)
    low, high = np.fmin.reduce(numbers, axis=0), np.fmax.reduce(numbers, axis=0)
    shifted: Floats = (numbers - low) / np.where(high > low, high - low, 1.0)
    return shifted


def n_distinct_values(matrix: NDArray[np.generic]) -> Ints:
    """How many different values each column takes, missing ones (NaN or -1) not counted.

    >>> n_distinct_values(np.array([[0, 1], [2, -1], [2, -1]])).tolist()
    [2, 1]
    """
    n_rows, n_columns = matrix.shape
    if not n_rows or not n_columns:
        return np.zeros(n_columns, dtype=np.int64)
    ordered = np.sort(matrix, axis=0)
    # NaN is sorted last and never exceeds its predecessor; -1 is sorted first and so counts only once.
    steps = np.count_nonzero(ordered[1:] > ordered[:-1], axis=0)
    starts = ~np.isnan(ordered[0]) if matrix.dtype.kind == "f" else ordered[0] >= 0
    counts: Ints = steps + starts
    return counts
