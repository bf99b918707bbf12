"""The real data sets that come with scikit-learn: no download, no file."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from metaml.data import Dataset, from_frame
from metaml.errors import BadRequest
from metaml.sources.base import Loaded, Source


def names() -> tuple[str, ...]:
    """Return the names `load` knows."""
    return tuple(_LOADERS)


def load(name: str) -> Dataset:
    """Return the data set of this name; classes are called by their names, not by codes.

    Linnerud's three targets are left out: 20 rows are too few to compare algorithms on.
    """
    if name not in _LOADERS:
        raise BadRequest(f"There is no built-in data set {name!r}. Choose one of {', '.join(_LOADERS)}.")
    return from_frame(_LOADERS[name](), target="target", name=name)


def _named_classes(loader: str) -> pd.DataFrame:
    from sklearn import datasets

    bunch = getattr(datasets, loader)(as_frame=True)
    frame: pd.DataFrame = bunch.frame.copy()
    frame["target"] = bunch.target_names[frame["target"].to_numpy()]
    return frame


def _iris() -> pd.DataFrame:
    return _named_classes("load_iris")


def _wine() -> pd.DataFrame:
    return _named_classes("load_wine")


def _breast_cancer() -> pd.DataFrame:
    return _named_classes("load_breast_cancer")


def _digits() -> pd.DataFrame:
    from sklearn.datasets import load_digits

    frame: pd.DataFrame = load_digits(as_frame=True).frame
    return frame


def _diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    frame: pd.DataFrame = load_diabetes(as_frame=True, scaled=False).frame
    return frame


_LOADERS: dict[str, Callable[[], pd.DataFrame]] = {
    "iris": _iris,
    "wine": _wine,
    "breast_cancer": _breast_cancer,
    "digits": _digits,
    "diabetes": _diabetes,
}


def sources() -> list[Source]:
    """Return all built-in data sets."""
    return [Source(name, partial(_loaded, name)) for name in names()]


def _loaded(name: str) -> Loaded:
    return Loaded(load(name), origin="builtin")
