"""Category columns as numbers: levels as the training rows had them; integer, one-hot, hashed or impact codes."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from metaml.algorithms.base import Matrix, Rows, Vector
from metaml.arrays import Floats
from metaml.data.row_reader import Row

UNSEEN = -1
"""The code of a level that the training rows did not have."""

_UNSEEN_ROW = np.array([UNSEEN], dtype=np.int64)
_SMOOTHING = 10.0  # rows of the overall mean that each level's mean is mixed with
_IMPACT_FOLDS = 5
_IMPACT_CLASSES = 20  # with more classes, only the most frequent get an impact column


class Levels:
    """The levels of one column as the training rows had them, a missing value being a level of its own.

    >>> levels = Levels(pd.Series(["b", "a", None], dtype="category"))
    >>> levels.codes(pd.Series(["c", "b", None, "a"], dtype="category")).tolist()
    [-1, 1, 2, 0]
    """

    def __init__(self, column: pd.Series) -> None:
        values = _categorical(column)
        used = np.unique(values.codes)
        self.names: pd.Index = values.categories[used[used >= 0]]
        self.has_missing = bool((used < 0).any())

    @property
    def count(self) -> int:
        """How many levels the training rows had."""
        return len(self.names) + self.has_missing

    def codes(self, column: pd.Series | pd.Categorical) -> Rows:
        """Return 0 … count-1 for known levels, by name, and UNSEEN for the others."""
        values = _categorical(column)
        missing = len(self.names) if self.has_missing else UNSEEN
        # The last entry answers pandas' own code for a missing value, which is -1.
        table = np.append(self.names.get_indexer(values.categories), missing)
        codes: Rows = table[values.codes].astype(np.int64)
        return codes

    def code_of(self, level: str | None) -> Rows:
        """Return the code of one level, None if it is missing, as `codes` returns that of a row; do not change it."""
        known = _PLACES.get(self)
        if known is None:
            missing = len(self.names) if self.has_missing else UNSEEN
            places: dict[str | None, int] = {None: missing, **{name: place for place, name in enumerate(self.names)}}
            known = _PLACES[self] = {name: np.array([place], dtype=np.int64) for name, place in places.items()}
        return known.get(level, _UNSEEN_ROW)


_PLACES: WeakKeyDictionary[Levels, dict[str | None, Rows]] = WeakKeyDictionary()


def _categorical(column: pd.Series | pd.Categorical) -> pd.Categorical:
    return column if isinstance(column, pd.Categorical) else pd.Categorical(column)


class Columns:
    """The columns of a table as models read them, each converted once for all models that use the same rows.

    >>> columns = Columns(pd.DataFrame({"n": [1, 2], "c": pd.Categorical(["b", "a"])}))
    >>> columns.numbers(["n"]).tolist(), columns.codes("c", Levels(pd.Series(["a", "b"]))).tolist()
    ([[1.0], [2.0]], [1, 0])
    """

    def __init__(self, X: pd.DataFrame) -> None:
        self._X = X
        self._numbers: dict[tuple[Hashable, ...], Matrix] = {}
        self._categories: dict[Hashable, pd.Categorical] = {}

    @classmethod
    def of(cls, X: pd.DataFrame | Columns) -> Columns:
        """Return the columns of a table, or these if they are that already."""
        return X if isinstance(X, Columns) else cls(X)

    def __len__(self) -> int:
        return len(self._X)

    def numbers(self, names: Sequence[Hashable]) -> Matrix:
        """Return the columns with these names as one matrix; it is shared, so do not change it."""
        key = tuple(names)
        if key not in self._numbers:
            self._numbers[key] = self._X.reindex(columns=list(names)).to_numpy(dtype=np.float64)
        return self._numbers[key]

    def codes(self, name: Hashable, levels: Levels) -> Rows:
        """Return a column as codes of these levels."""
        if name not in self._categories:
            self._categories[name] = _categorical(self._X[name])
        return levels.codes(self._categories[name])


class RowColumns(Columns):
    """The columns of a single row, without a table."""

    def __init__(self, row: Row, positions: dict[tuple[Hashable, ...], Rows]) -> None:
        self._row, self._positions = row, positions

    def __len__(self) -> int:
        return 1

    def numbers(self, names: Sequence[Hashable]) -> Matrix:
        """Return the columns with these names as a matrix of one row."""
        key = tuple(names)
        places = self._positions.get(key)
        if places is None:
            known = self._row.places
            places = self._positions[key] = np.array([known.get(name, -1) for name in names], dtype=np.int64)
        return self._row.values[places][np.newaxis]

    def codes(self, name: Hashable, levels: Levels) -> Rows:
        """Return the code of the row's level."""
        return levels.code_of(self._row.words.get(name))


def one_hot(codes: Rows, count: int) -> Matrix:
    """Return one column per level; an unseen level is all zeros.

    >>> one_hot(np.array([1, 0, -1]), 2).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    columns: Matrix = (codes[:, None] == np.arange(count)).astype(np.float64)
    return columns


HASHED_COLUMNS = 16
"""What a column of more levels becomes; 16 columns are no more than one-hot encoding has by default."""


def hashed(codes: Rows, levels: Levels) -> Matrix:
    """Return 16 columns that levels share: a hash of its name gives each a column and a sign (Weinberger et al. 2009).

    An unseen level is all zeros. Names, and not their order, decide: a level means the same in each fold.
    """
    numbers = np.array([zlib.crc32(str(name).encode()) for name in levels.names], dtype=np.int64)
    table = np.zeros((levels.count + 1, HASHED_COLUMNS))
    signs = 1.0 - 2.0 * (numbers // HASHED_COLUMNS % 2)
    table[np.arange(len(numbers)), numbers % HASHED_COLUMNS] = signs
    if levels.has_missing:
        table[len(numbers), 0] = 1.0
    return table[codes]


def impact_targets(y: Vector, n_classes: int | None) -> Matrix:
    """Return what impact encoding averages: y itself, or an indicator per class (one if there are two)."""
    if n_classes is None:
        return np.asarray(y, dtype=np.float64)[:, None]
    if n_classes == 2:
        return np.asarray(y == 1, dtype=np.float64)[:, None]
    frequent = np.sort(np.argsort(-np.bincount(y, minlength=n_classes), kind="stable")[:_IMPACT_CLASSES])
    return np.asarray(y[:, None] == frequent, dtype=np.float64)


class Impact:
    """Impact encoding: a level becomes the mean target of its rows, drawn towards the overall mean.

    Coors (2018), eq. 46, 48 and 49 with the weight n / (n + 10) for a level of n rows, so that a level seen
    once says almost nothing. The training rows themselves get values made without their own fold, so that
    a level does not leak a row's own target.
    """

    def fit_transform(
        self, codes: Rows, count: int, targets: Matrix, rng: np.random.Generator, weight: Vector | None = None
    ) -> Matrix:
        """Learn the impact of each level; return the cross-fitted values of the training rows."""
        folds = rng.permutation(len(codes)) % _IMPACT_FOLDS
        cells = codes * _IMPACT_FOLDS + folds
        shape = (count, _IMPACT_FOLDS)
        rows = np.bincount(cells, weight, minlength=count * _IMPACT_FOLDS).reshape(shape).astype(np.float64)
        parts = targets.T if weight is None else targets.T * weight
        sums = np.stack(
            [np.bincount(cells, weights=t, minlength=count * _IMPACT_FOLDS).reshape(shape) for t in parts],
            axis=-1,
        )
        self.mean_: Floats = targets.mean(axis=0) if weight is None else parts.sum(axis=1) / weight.sum()
        self.values_ = self._smooth(sums.sum(axis=1), rows.sum(axis=1))
        others = self._smooth(sums.sum(axis=1, keepdims=True) - sums, rows.sum(axis=1, keepdims=True) - rows)
        result: Matrix = others[codes, folds]
        return result

    def transform(self, codes: Rows) -> Matrix:
        """Return the impact of each row's level; an unseen level has the overall mean."""
        table = np.vstack([self.values_, self.mean_])
        return table[codes]

    def _smooth(self, sums: Matrix, rows: Matrix) -> Matrix:
        return (sums + _SMOOTHING * self.mean_) / (rows + _SMOOTHING)[..., None]
