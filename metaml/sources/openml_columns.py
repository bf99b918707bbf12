"""OpenML's column declarations, applied to a table: the same table results from ARFF and from parquet."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd


def as_declared(frame: pd.DataFrame, features: Mapping[int, Any], target: str, *, is_regression: bool) -> pd.DataFrame:
    """Return the frame with nominal columns, and the target of a classification, as categories of words."""
    declared = {feature.name: feature for feature in features.values()}
    columns = {}
    for name in frame.columns:
        feature = declared.get(str(name))
        is_classes = str(name) == target and not is_regression
        if is_classes or (feature is not None and feature.data_type == "nominal"):
            columns[name] = as_words(frame[name], (feature.nominal_values if feature else None) or ())
        elif feature is not None and feature.data_type == "numeric":
            columns[name] = frame[name].astype("float64")
        else:
            columns[name] = frame[name]
    return pd.DataFrame(columns)


def as_words(column: pd.Series, levels: Sequence[str]) -> pd.Series:
    """Return a column as a category of words, in the spelling of `levels` where it has one.

    Parquet files hold TRUE and FALSE as truth values, and whole numbers as floats where cells are missing.

    >>> as_words(pd.Series([True, False]), ["TRUE", "FALSE"]).tolist()
    ['TRUE', 'FALSE']
    >>> as_words(pd.Series([1.0, None, 2.0]), ["1", "2"]).tolist()
    ['1', nan, '2']
    """
    spelling = {level.lower(): level for level in levels} | {level: level for level in levels}

    def word(value: object) -> str | None:
        if pd.isna(value):  # type: ignore[call-overload]
            return None
        text = str(value)
        if isinstance(value, float) and value.is_integer() and text not in spelling:
            text = str(int(value))
        return spelling.get(text, spelling.get(text.lower(), text))

    if isinstance(column.dtype, pd.CategoricalDtype):
        names = {level: word(level) for level in column.cat.categories}
        return column.map(names).astype("category")
    return column.map(word).astype("category")


def left_out(entry: Any, target: str, names: Sequence[str] | pd.Index) -> list[str]:
    """Return the columns that OpenML says are not for learning: row numbers and ignored ones.

    Their names come as a list or, in older entries, in one text with commas.
    """
    marked: list[str] = []
    for given in (entry.row_id_attribute, entry.ignore_attribute):
        for name in [given] if isinstance(given, str) else given or ():
            marked += [name] if name in names else [part.strip(" '\"") for part in name.split(",")]
    return [name for name in dict.fromkeys(marked) if name in names and name != target]
