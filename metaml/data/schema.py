"""How a raw table is turned into features: learnt once from the training data, saved as JSON."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.data.arrow import as_pandas
from metaml.data.cells import (
    WordColumn,
    are_truth_values,
    booleans_of,
    category_text,
    floats_of,
    holds_floats,
    is_absent,
    is_plain_number,
    numbers_of,
    without_extremes,
    words_of,
)
from metaml.data.columns import Repair, with_noun
from metaml.data.dates import Part, parse_dates, part_of
from metaml.data.names import names_by_position, usable_names
from metaml.data.task import Task
from metaml.errors import BadDataset

How = Literal["number", "boolean", "presence", "ordinal", "category", "date"]
"""How a raw column becomes features; `presence` is 1 where there is a value and 0 where there is none. `ordinal` is the
place of a level among `categories`, lowest first."""

_CHUNK = 256
"""So many columns are converted at a time, so that memory never holds a third copy of a wide table."""


@dataclass(frozen=True)
class Feature:
    """One raw column and the feature columns made from it: one, or one per part for a date."""

    source: str
    how: How
    outputs: tuple[str, ...]
    categories: tuple[str, ...] = ()
    format: str | None = None
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, eq=False)
class Applied:
    """Features made from new rows, and what the new rows lacked.

    `missing` names the raw columns that were absent; all their cells are missing. `unreadable` counts, per raw column,
    the cells that were made missing: a category that the training data did not have, or no number or date where one
    was expected. Words that mean "no value" among numbers or dates are not counted.
    """

    X: pd.DataFrame
    missing: tuple[str, ...]
    unreadable: Mapping[str, int]

    @property
    def notes(self) -> tuple[Repair, ...]:
        """Return the missing and the unreadable as sentences."""
        absent = [Repair(name, "read as all missing", "the table has no such column") for name in self.missing]
        strange = [
            Repair(name, f"{with_noun(count, 'cell')} read as missing", "the training data had no such values")
            for name, count in self.unreadable.items()
        ]
        return tuple(absent + strange)


@dataclass(frozen=True)
class Schema:
    """What a data set's raw columns are turned into, and which labels its classes have.

    `apply` gives the same columns, order and types for any table, whatever the order of its columns and
    however its numbers were written. `labels` keeps the original values, `label_dtype` is their NumPy type.
    `n_columns` counts the raw columns, target and all, of training data without a header; else it is None.
    `decimal_commas` names the raw columns whose numbers were written the European way.
    """

    features: tuple[Feature, ...]
    target: str
    task: Task
    labels: tuple[str | int | float | bool, ...] | None = None
    label_dtype: str | None = None
    n_columns: int | None = None
    decimal_commas: tuple[str, ...] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the feature columns, in order."""
        return tuple(output for feature in self.features for output in feature.outputs)

    def sources_of(self, columns: Collection[str]) -> set[str]:
        """Return the raw columns from which these feature columns are made."""
        return {feature.source for feature in self.features if any(output in columns for output in feature.outputs)}

    def only(self, sources: Collection[str]) -> "Schema":
        """Return the schema of these raw columns alone."""
        return replace(self, features=tuple(feature for feature in self.features if feature.source in sources))

    def label_array(self) -> Array | None:
        """Return the labels in their original type, so that codes index them; None for regression."""
        if self.labels is None:
            return None
        labels = np.empty(len(self.labels), dtype=self.label_dtype)
        labels[:] = self.labels
        return labels

    def apply(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the features of the frame's rows."""
        return self.read(frame).X

    def read(self, frame: pd.DataFrame) -> Applied:
        """Return the features of the frame's rows together with what was missing or unreadable in it."""
        frame = as_pandas(frame)
        names = self.names_of(frame.columns)
        places = {name: place for place, name in enumerate(names)}
        floats = [feature for feature in self.features if feature.how != "category"]
        rows = {output: row for row, output in enumerate(output for feature in floats for output in feature.outputs)}
        values = np.full((len(rows), len(frame)), np.nan)
        categories: dict[str, pd.Categorical] = {}
        unreadable: dict[str, int] = {}

        dtypes = list(frame.dtypes)
        plain = [feature for feature in floats if feature.how == "number" and feature.source in places]
        plain = [feature for feature in plain if is_plain_number(dtypes[places[feature.source]])]
        for start in range(0, len(plain), _CHUNK):
            chunk = plain[start : start + _CHUNK]
            block = frame.iloc[:, [places[feature.source] for feature in chunk]].to_numpy(dtype=np.float64)
            values[[rows[feature.outputs[0]] for feature in chunk]] = without_extremes(block.T)

        done = {feature.source for feature in plain}
        for feature in self.features:
            if feature.source in done:
                continue
            column = frame.iloc[:, places[feature.source]] if feature.source in places else None
            if feature.how == "category":
                made, n_lost = category_column(column, feature.categories, len(frame))
                categories[feature.outputs[0]] = made
            elif column is None:
                n_lost = 0
            else:
                made_values, n_lost = number_columns(column, feature)
                for output, numbers in zip(feature.outputs, made_values, strict=True):
                    values[rows[output]] = numbers
            if n_lost:
                unreadable[feature.source] = n_lost
        missing = tuple(feature.source for feature in self.features if feature.source not in places)
        return Applied(self._assembled(values, list(rows), categories), missing, unreadable)

    def names_of(self, columns: Iterable[object]) -> list[str]:
        """Return the names that the training data had for a table's columns.

        If the training data had no header, a table without a header may have all its columns, or all but the target.
        """
        names, _ = usable_names(columns)
        if self.n_columns is None or names != names_by_position(len(names)) or len(names) == self.n_columns:
            return names
        if len(names) == self.n_columns - 1:
            return [name for name in names_by_position(self.n_columns) if name != self.target]
        raise BadDataset(
            f"The table has {with_noun(len(names), 'column')} without names, but the training data had "
            f"{self.n_columns}, the target {self.target!r} among them. Give all of them, or all but the target, "
            "in the same order."
        )

    def could_hold(self, cells: Sequence[str]) -> bool:
        """Return whether a line could be a row of training data without a header: half of its cells can be read."""
        if self.n_columns is None or len(cells) not in (self.n_columns, self.n_columns - 1):
            return False
        row = pd.DataFrame([list(cells)], columns=names_by_position(len(cells)), dtype=str)
        return 2 * len(self.read(row).unreadable) <= len(self.features)

    def _assembled(self, values: Floats, names: list[str], categories: dict[str, pd.Categorical]) -> pd.DataFrame:
        X = pd.DataFrame(values.T, columns=pd.Index(names, dtype=object), copy=False)
        if categories:
            X = pd.concat([X, pd.DataFrame(categories, index=X.index)], axis=1)
            X = X.loc[:, list(self.columns)] if list(X.columns) != list(self.columns) else X
        X.columns = pd.Index(list(self.columns), dtype=str)
        return X

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Schema":
        """Return the schema that `to_dict` described."""
        features = tuple(
            Feature(
                source=feature["source"],
                how=feature["how"],
                outputs=tuple(feature["outputs"]),
                categories=tuple(feature["categories"]),
                format=feature["format"],
                parts=tuple(feature["parts"]),
            )
            for feature in plain["features"]
        )
        labels = None if plain["labels"] is None else tuple(plain["labels"])
        # Models that were saved by older versions lack some keys, so these have defaults.
        n_columns, decimal_commas = plain.get("n_columns"), tuple(plain.get("decimal_commas", ()))
        return cls(features, plain["target"], plain["task"], labels, plain["label_dtype"], n_columns, decimal_commas)

    def to_json(self) -> str:
        """Return the schema as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Schema":
        """Return the schema that `to_json` wrote."""
        return cls.from_dict(json.loads(text))


def category_column(column: pd.Series | None, levels: tuple[str, ...], n_rows: int) -> tuple[pd.Categorical, int]:
    """Return a raw column as categories, and how many cells have none of the levels."""
    dtype = _category_dtype(levels)
    if column is None:
        return pd.Categorical.from_codes(np.full(n_rows, -1), dtype=dtype), 0
    codes, n_lost = _codes(words_of(column), levels)
    return pd.Categorical.from_codes(codes, dtype=dtype), n_lost


def _codes(words: WordColumn, levels: tuple[str, ...]) -> tuple[npt.NDArray[np.intp], int]:
    """Return the place of each row's level, -1 where it has none of these, and how many such rows are not missing."""
    places = {level: place for place, level in enumerate(levels)}
    moves = np.array([places.get(category_text(word), -1) for word in words.words] + [-1], dtype=np.intp)
    codes = moves[words.codes]
    return codes, int(((codes < 0) & (words.codes >= 0)).sum())


@lru_cache(maxsize=256)
def _category_dtype(levels: tuple[str, ...]) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(levels, dtype=str))


def number_columns(column: pd.Series, feature: Feature) -> tuple[list[Floats], int]:
    """Return the columns of numbers that a raw column becomes, and how many cells could not be read."""
    if feature.how == "date":
        return _date(column, feature)
    if feature.how == "presence":
        there = ~np.isnan(without_extremes(floats_of(column))) if holds_floats(column) else words_of(column).codes >= 0
        return [there.astype(np.float64)], 0
    if feature.how == "ordinal":
        codes, n_lost = _codes(words_of(column), feature.categories)
        return [np.where(codes < 0, np.nan, codes)], n_lost
    if feature.how == "number" and holds_floats(column):
        return [without_extremes(floats_of(column))], 0
    words = words_of(column)
    # pandas reads truth values as words if a cell is missing. They are numbers in a numeric column either way.
    is_number = feature.how == "number" and not are_truth_values(words.words)
    read = without_extremes(numbers_of(words.words)) if is_number else booleans_of(words.words)
    return [words.take(read)], _n_lost(words, read, feature)


def _date(column: pd.Series, feature: Feature) -> tuple[list[Floats], int]:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        moments = moments_of(column)
        return [part_of(moments, part) for part in feature.parts], 0
    words = words_of(column)
    moments = parse_dates(words.words, feature.format or "ISO8601")
    parts = [part_of(moments, part) for part in feature.parts]
    return [words.take(part) for part in parts], _n_lost(words, parts[0], feature)


def moments_of(column: pd.Series) -> pd.DatetimeIndex:
    """Return a column of datetimes as moments in UTC without a time zone."""
    moments = pd.DatetimeIndex(column)
    return moments if moments.tz is None else moments.tz_convert("UTC").tz_localize(None)


def _n_lost(words: WordColumn, read: Floats, feature: Feature) -> int:
    is_gap = np.array([feature.how != "boolean" and is_absent(word) for word in words.words], dtype=bool)
    return int(words.counts()[np.isnan(read) & ~is_gap].sum())
