"""A single row of a table as features, without the pandas objects of a whole table: for models that answer requests.

What can be prepared for all rows of the same columns and types is prepared once, and what a cell means is remembered.
Every cell is read for the first time as `Schema.read` does, so the features are the same to the last bit.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Floats
from metaml.data.cells import LARGEST, is_plain_number
from metaml.data.schema import Feature, Schema, category_column, number_columns

MOST_LAYOUTS = 4
MOST_CELLS = 10_000
"""So many different cells are remembered for each layout."""

Meaning = tuple[tuple[float, ...] | str | None, int]
"""The numbers of a cell, or its level, and how many cells could not be read."""


@dataclass(frozen=True, eq=False)
class Row:
    """The features of one row: `values` of those that are numbers, at their `places`, and `words` of the others."""

    values: Floats
    places: Mapping[Hashable, int]
    words: Mapping[Hashable, str | None]
    missing: tuple[str, ...]
    unreadable: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class _Layout:
    """Tables with the same columns of the same types."""

    names: list[Any]
    dtypes: list[Any]
    numbers: npt.NDArray[np.intp]
    number_rows: npt.NDArray[np.intp]
    rest: Sequence[tuple[Feature, int | None]]
    missing: tuple[str, ...]
    meanings: dict[tuple[str, type, object], Meaning] = field(default_factory=dict)


class RowReader:
    """Reads single rows for one schema.

    >>> from metaml.data import from_frame
    >>> frame = pd.DataFrame({"n": [1.0, 2.0, 3.0] * 2, "c": ["a", "b"] * 3, "y": [0, 0, 1, 1, 0, 1]})
    >>> reader = RowReader(from_frame(frame, target="y").schema)
    >>> row = reader.read(frame.iloc[[1]])
    >>> float(row.values[row.places["n"]]), row.words
    (2.0, {'c': 'b'})
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        outputs = [output for item in schema.features if item.how != "category" for output in item.outputs]
        self._places: dict[Hashable, int] = {output: place for place, output in enumerate(outputs)}
        self._layouts: list[_Layout] = []

    def read(self, frame: pd.DataFrame) -> Row:
        """Return the features of the only row of a table."""
        layout = self._layout_of(frame)
        cells = _cells(frame)
        # The last one stands for columns that a model does not read.
        values = np.full(len(self._places) + 1, np.nan)
        if len(layout.numbers):
            numbers = cells.take(layout.numbers).astype(np.float64)
            with np.errstate(invalid="ignore"):
                numbers[~(np.abs(numbers) <= LARGEST)] = np.nan
            values[layout.number_rows] = numbers
        words: dict[Hashable, str | None] = {}
        unreadable: dict[str, int] = {}
        for feature, place in layout.rest:
            if place is None:
                meaning: Meaning = (None, 0)
            else:
                meaning = self._meaning(layout, feature, frame, place, cells[place])
            found, n_lost = meaning
            if feature.how == "category":
                words[feature.outputs[0]] = found  # type: ignore[assignment]
            elif found is not None:
                values[[self._places[output] for output in feature.outputs]] = found
            if n_lost:
                unreadable[feature.source] = n_lost
        return Row(values, self._places, words, layout.missing, unreadable)

    def _layout_of(self, frame: pd.DataFrame) -> _Layout:
        names, dtypes = frame.columns.tolist(), list(frame.dtypes)
        for layout in self._layouts:
            if layout.names == names and layout.dtypes == dtypes:
                return layout
        places = {name: place for place, name in enumerate(self._schema.names_of(frame.columns))}
        features = self._schema.features
        is_plain = [
            item.how == "number" and item.source in places and is_plain_number(dtypes[places[item.source]])
            for item in features
        ]
        plain = [item for item, flag in zip(features, is_plain, strict=True) if flag]
        layout = _Layout(
            names,
            dtypes,
            np.array([places[item.source] for item in plain], dtype=np.intp),
            np.array([self._places[item.outputs[0]] for item in plain], dtype=np.intp),
            [(item, places.get(item.source)) for item, flag in zip(features, is_plain, strict=True) if not flag],
            tuple(item.source for item in features if item.source not in places),
        )
        self._layouts = [layout, *self._layouts][:MOST_LAYOUTS]
        return layout

    def _meaning(self, layout: _Layout, feature: Feature, frame: pd.DataFrame, place: int, cell: object) -> Meaning:
        cell = cell.item() if isinstance(cell, np.generic) else cell
        kind = type(cell)
        if kind is not str and kind is not bool and kind is not int and (kind is not float or cell != cell):
            return _read(frame.iloc[:, place], feature)
        key = (feature.source, kind, cell)
        known = layout.meanings.get(key)
        if known is None:
            known = _read(frame.iloc[:, place], feature)
            if len(layout.meanings) < MOST_CELLS:
                layout.meanings[key] = known
        return known


def _cells(frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Return the cells of the only row; the quick way is exact only if the cells keep their types."""
    row = frame.iloc[0]
    cells: npt.NDArray[Any] = row.to_numpy() if row.dtype == object else frame.to_numpy(dtype=object)[0]
    return cells


def _read(column: pd.Series, feature: Feature) -> Meaning:
    """Return what the only cell of a column means."""
    if feature.how == "category":
        made, n_lost = category_column(column, feature.categories, 1)
        code = int(made.codes[0])
        return (None if code < 0 else feature.categories[code]), n_lost
    values, n_lost = number_columns(column, feature)
    return tuple(float(one[0]) for one in values), n_lost
