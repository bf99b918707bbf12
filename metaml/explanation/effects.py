"""How predictions change along a column, and which columns act together: curves and numbers for a report.

Along numbers these are accumulated local effects (Apley & Zhu 2020), which never ask a model about rows far from the
data, as partial dependence does where columns are correlated. For categories it is the mean prediction of each level.
Interactions are Friedman's H (Friedman & Popescu 2008, eq. 44): the part of what two columns do together that is no sum
of what each does alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from metaml.arrays import Flags, Floats

Predict = Callable[[pd.DataFrame], Floats]
"""Rows to outputs, rows × outputs: values, or the probabilities of the classes."""
MOST_STEPS, FEW_STEPS, MOST_LEVELS = 12, 5, 8
"""The places along a column of numbers, and the levels of one of categories, that are looked at."""


@dataclass(frozen=True)
class ColumnEffect:
    """The mean prediction along a column, as each of several models has it.

    `places` are numbers, or the names of levels; `curves` has for each model a prediction at each place. `output` is
    the class whose probability it is, empty for a number. `shares` is the part of the rows at, or up to, each place.
    """

    column: str
    places: tuple[float, ...] | tuple[str, ...]
    curves: tuple[tuple[float, ...], ...]
    shares: tuple[float, ...]
    output: str = ""

    @property
    def is_category(self) -> bool:
        """Return whether the places are names of levels."""
        return isinstance(self.places[0], str)

    @property
    def mean(self) -> tuple[float, ...]:
        """Return the mean of the curves."""
        return tuple(np.mean(self.curves, axis=0).tolist())

    @property
    def spread(self) -> tuple[float, ...]:
        """Return the standard deviation of the curves at each place; 0 for a single one."""
        return (
            tuple(np.std(self.curves, axis=0, ddof=1).tolist()) if len(self.curves) > 1 else (0.0,) * len(self.places)
        )


@dataclass(frozen=True)
class Interaction:
    """What two columns do together beyond the sum of what each does alone.

    `share` is the part of the variance of their joint effect that this is (H squared), `size` its standard deviation in
    units of the prediction. `curves` are the effect of the first column where the second is low, middling and high.
    """

    first: str
    second: str
    share: float
    size: float
    places: tuple[float, ...] = ()
    curves: tuple[tuple[str, tuple[float, ...]], ...] = ()


def places_of(column: pd.Series) -> tuple[float, ...] | tuple[str, ...]:
    """Return the places along a column: quantiles of numbers, or the most frequent levels; none if it is constant.

    >>> places_of(pd.Series([0.0, 1.0, 1.0])), places_of(pd.Series(["b", "a", "b"], dtype="category"))
    ((0.0, 1.0), ('b', 'a'))
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        counts = column.value_counts()
        return tuple(str(level) for level in counts[counts > 0].index[:MOST_LEVELS])
    values = column.to_numpy(dtype=np.float64)
    values = values[np.isfinite(values)]
    distinct = np.unique(values)
    if len(distinct) > MOST_STEPS:
        # Tails are left out: one far row would take most of the picture.
        places = np.unique(np.quantile(values, np.linspace(0.01, 0.99, MOST_STEPS + 1)))
        if len(places) < FEW_STEPS:
            # Most rows share a value, such as 0: the others say what happens beyond it.
            places = np.union1d(places, np.quantile(distinct, np.linspace(0.1, 0.9, FEW_STEPS), method="nearest"))
        distinct = places
    return tuple(distinct.tolist()) if len(distinct) > 1 else ()


def shares_at(column: pd.Series, places: Sequence[float] | Sequence[str]) -> tuple[float, ...]:
    """Return the share of the rows at each level, or between each number and the one before it."""
    if isinstance(places[0], str):
        return tuple(float((column == level).mean()) for level in places)
    values = column.to_numpy(dtype=np.float64)
    steps = np.searchsorted(np.asarray(places, dtype=np.float64), values[np.isfinite(values)])
    return tuple((np.bincount(np.minimum(steps, len(places) - 1), minlength=len(places)) / len(values)).tolist())


def effect_along(predict: Predict, X: pd.DataFrame, column: str, places: Sequence[float] | Sequence[str]) -> Floats:
    """Return the outputs of a model at each place along a column, places × outputs, over the rows X.

    >>> X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    >>> effect_along(lambda rows: rows.to_numpy() @ [[2.0], [1.0]], X, "a", (0.0, 1.5, 3.0)).tolist()
    [[0.5], [3.5], [6.5]]
    """
    if isinstance(places[0], str):
        levels = pd.concat([_with(X, column, str(level)) for level in places], ignore_index=True)
        return np.asarray(predict(levels).reshape(len(places), len(X), -1).mean(axis=1))
    edges = np.asarray(places, dtype=np.float64)
    is_known = np.isfinite(X[column].to_numpy(dtype=np.float64))
    rows = X[is_known].reset_index(drop=True)
    values = np.clip(rows[column].to_numpy(dtype=np.float64), edges[0], edges[-1])
    step = np.clip(np.searchsorted(edges, values), 1, len(edges) - 1)
    both = pd.concat([rows.assign(**{column: edges[step - 1]}), rows.assign(**{column: edges[step]})])
    before, after = np.split(predict(both.reset_index(drop=True)), 2)
    rises = np.zeros((len(edges), before.shape[1]))
    np.add.at(rises, step, after - before)
    rises /= np.maximum(np.bincount(step, minlength=len(edges)), 1)[:, None]
    curve = np.cumsum(rises, axis=0)
    # Move the curve to where the predictions are: over the rows, both have the same mean.
    share = ((edges[step] - values) / np.maximum(edges[step] - edges[step - 1], 1e-300))[:, None]
    level = (share * before + (1 - share) * after).mean(axis=0)
    return np.asarray(curve + level - (curve[step] - share * rises[step]).mean(axis=0))


def interactions(
    predict: Predict, X: pd.DataFrame, columns: Sequence[str], is_late: Callable[[], bool]
) -> list[Interaction]:
    """Return pairs of columns by how much they do together, largest first; fewer if it gets late.

    The rows X are both the places and the background: of n rows, each pair is asked for n² rows. Only the first output
    counts.

    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    >>> product = lambda rows: (rows["a"] * rows["b"] + rows["c"]).to_numpy()[:, None]
    >>> found = interactions(product, X, ["a", "b", "c"], lambda: False)
    >>> found[0].first, found[0].second, round(found[0].share, 2) > 0.5, round(found[-1].share, 6)
    ('a', 'b', True, 0.0)
    """
    alone: dict[str, Floats] = {}
    found = []
    for first, second in combinations(columns, 2):
        for name in (first, second):
            if name not in alone and not is_late():
                alone[name] = _dependence(predict, X, [name])
        if is_late() or first not in alone or second not in alone:
            break
        together = _dependence(predict, X, [first, second])
        rest = together - alone[first] - alone[second]
        whole = float((together**2).mean())
        size = float(np.sqrt((rest**2).mean()))
        found.append(Interaction(first, second, min(size**2 / whole, 1.0) if whole > 0 else 0.0, size))
    return sorted(found, key=lambda item: -item.size)


def parts_by(column: pd.Series) -> list[tuple[str, Flags]]:
    """Return which rows have a low, a middling and a high value of a column, or its three main levels, by name.

    >>> [(name, flags.tolist()) for name, flags in parts_by(pd.Series([1.0, 2.0, 3.0]))][0]
    ('low', [True, False, False])
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [(str(level), (column == level).to_numpy()) for level in column.value_counts().index[:3]]
    values = column.to_numpy(dtype=np.float64)
    low, high = np.nanquantile(values, [1 / 3, 2 / 3])
    is_low, is_high = values <= low, values > high
    return [("low", is_low), ("middling", np.isfinite(values) & ~is_low & ~is_high), ("high", is_high)]


def _dependence(predict: Predict, X: pd.DataFrame, columns: list[str]) -> Floats:
    """Return the centred partial dependence on columns, at the values of each row."""
    n = len(X)
    background = X.iloc[np.tile(np.arange(n), n)].reset_index(drop=True)
    at = np.repeat(np.arange(n), n)
    for name in columns:
        background[name] = X[name].iloc[at].set_axis(background.index)
    values = np.asarray(predict(background))[:, 0].reshape(n, n).mean(axis=1)
    return np.asarray(values - values.mean())


def _with(X: pd.DataFrame, column: str, level: str) -> pd.DataFrame:
    return X.assign(**{column: pd.Series(level, index=X.index).astype(X[column].dtype)})
