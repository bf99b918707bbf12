"""What callers give from Python: data as a file or a frame, names as a list or a text with commas."""

import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

import pandas as pd

from metaml.data.arrow import ArrowTable, as_pandas
from metaml.data.content import NO_LIMITS, ReadingLimits
from metaml.data.dataset import Dataset
from metaml.data.options import NO_OPTIONS, ColumnOptions
from metaml.data.preparation import from_frame, read_dataset

SAY_NOTHING = frozenset(
    ("data", "dataset", "df", "frame", "table", "x", "x_train", "train", "df_train", "train_df", "features", "pdf")
)
"""Names of variables that do not tell one data set from another."""


def dataset_in(
    data: str | Path | pd.DataFrame | ArrowTable,
    target: str | None = None,
    task: str | None = None,
    name: str | None = None,
    limits: ReadingLimits = NO_LIMITS,
    ignore: str | Iterable[str] = (),
    options: ColumnOptions = NO_OPTIONS,
) -> Dataset:
    """Return the data set in a file or a frame; without a `name`, a frame is called as its variable.

    `limits` are for a pipe. `ignore` names columns to leave out, `options` say what others are for.

    >>> dataset_in(pd.DataFrame({"x": range(20), "y": ["a", "b"] * 10})).target
    'y'
    """
    table = as_pandas(data)
    if isinstance(table, pd.DataFrame):
        return from_frame(table, target, task, name or name_of(data), one_or_more(ignore), options)
    return read_dataset(table, target, task, name, limits, one_or_more(ignore), options)


def name_of(value: object) -> str:
    """Return what a caller calls some data: its attribute `name`, or a variable that says more than "df"; else "data".

    >>> flowers = pd.DataFrame()
    >>> flowers.attrs["name"] = "iris"
    >>> name_of(flowers)
    'iris'
    """
    attrs = getattr(value, "attrs", None)
    if isinstance(attrs, dict) and isinstance(attrs.get("name"), str) and attrs["name"].strip():
        return str(attrs["name"]).strip()
    frame = sys._getframe()
    while frame.f_back is not None and _is_library(frame):
        frame = frame.f_back
    for variables in () if _is_library(frame) else (frame.f_locals, frame.f_globals):
        for variable, held in list(variables.items()):
            if held is value and not variable.startswith("_") and variable.lower() not in SAY_NOTHING:
                return variable
    return "data"


def _is_library(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("metaml", "sklearn", "joblib")


def names_in(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of a list, or of a text with commas as the command line takes it.

    >>> names_in("svm, mlp,"), names_in(["svm"])
    (('svm', 'mlp'), ('svm',))
    """
    if isinstance(names, str):
        return tuple(name.strip() for name in names.split(",") if name.strip())
    return tuple(names)


def one_or_more(texts: str | Iterable[str]) -> tuple[str, ...]:
    """Return a text as the only one, or all of a list: names of data sets may contain commas.

    >>> one_or_more("iris, small"), one_or_more(["iris", "wine"])
    (('iris, small',), ('iris', 'wine'))
    """
    return (texts,) if isinstance(texts, str) else tuple(texts)
