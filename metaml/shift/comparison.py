"""Can a classifier tell two tables apart, by which columns, and which column differs by itself?

A cross-validated classifier that separates old from new rows notices differences of any kind, also between columns
(Lopez-Paz & Oquab 2017, "Revisiting classifier two-sample tests"). Each column alone is compared by the distance of
Kolmogorov and Smirnov, or by the total variation between the shares of its levels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.arrays import Array, Floats
from metaml.splits.shuffled import plan_folds

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 2000
N_FOLDS = 5
ALGORITHM = "lightgbm"
SETTINGS = {"num_leaves": 15, "learning_rate": 0.1, "min_data_in_leaf": 10}


@dataclass(frozen=True)
class Separation:
    """How well old and new rows can be told apart: the area under the curve, its standard error, and by what.

    `shares` has the share of each column in what the classifier learnt; they sum to 1.
    """

    auc: float
    error: float
    shares: dict[str, float]


@dataclass(frozen=True)
class ColumnShift:
    """How far one column moved: `distance` is 0 (the same) to 1, `chance` the probability of that without a shift.

    `missing` are the shares of missing values before and now.
    """

    column: str
    distance: float
    chance: float
    missing: tuple[float, float]


def separation(old: pd.DataFrame, new: pd.DataFrame, *, seed: int = 0) -> Separation:
    """Return how well a classifier tells old rows from new ones, on rows that it was not fitted to."""
    import pandas as pd

    from metaml.algorithms import ALGORITHMS
    from metaml.algorithms.categories import Columns
    from metaml.metrics import metric

    rng = np.random.default_rng(seed)
    parts = [frame.iloc[_some(len(frame), rng)] for frame in (old, new)]
    X = pd.concat(parts, ignore_index=True)
    y = np.repeat([0, 1], [len(part) for part in parts])
    plan = plan_folds(len(y), y, n_folds=min(N_FOLDS, len(parts[0]), len(parts[1])), seed=seed)
    algorithm = ALGORITHMS[ALGORITHM]
    config = {**algorithm.space("binary").default(), **SETTINGS}
    chances, shares = np.full(len(y), 0.5), np.zeros(X.shape[1])
    places = {name: place for place, name in enumerate(X.columns)}
    for fold in range(plan.n_folds):
        train, test = plan.split(fold)
        estimator: Any = algorithm.build(config, task="binary", seed=seed)
        estimator.fit(X.iloc[train].reset_index(drop=True), y[train])
        columns = Columns(X.iloc[test])
        chances[test] = estimator.predict_proba(columns)[:, 1]
        sizes = np.abs(estimator.model_.contributions(estimator.head_.transform(columns))[:, :-1, 0]).mean(axis=0)
        for name, size in zip(estimator.head_.sources(), sizes, strict=False):
            shares[places[name]] += size
    auc = metric("roc_auc").function(y, np.column_stack([1 - chances, chances]))
    shares = shares / shares.sum() if shares.sum() > 0 else shares
    return Separation(float(auc), auc_error(float(auc), *map(len, parts)), dict(zip(X.columns, shares, strict=True)))


def auc_error(auc: float, n_old: int, n_new: int) -> float:
    """Return the standard error of an area under the curve (Hanley & McNeil 1982).

    >>> round(auc_error(0.5, 100, 100), 4)
    0.0409
    """
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (n_old - 1) * (first - auc**2) + (n_new - 1) * (second - auc**2)
    return math.sqrt(max(variance, 0.0) / (n_old * n_new))


def column_shifts(old: pd.DataFrame, new: pd.DataFrame) -> list[ColumnShift]:
    """Return how far each column moved, the farthest first."""
    import pandas as pd

    found = []
    for name in old.columns:
        missing = float(old[name].isna().mean()), float(new[name].isna().mean())
        if isinstance(old[name].dtype, pd.CategoricalDtype):
            distance, chance = share_shift(old[name].cat.codes.to_numpy(), new[name].cat.codes.to_numpy())
        else:
            distance, chance = value_shift(old[name].to_numpy(dtype=np.float64), new[name].to_numpy(dtype=np.float64))
        found.append(ColumnShift(str(name), distance, chance, missing))
    return sorted(found, key=lambda shift: (-shift.distance, shift.column))


def value_shift(old: Floats, new: Floats) -> tuple[float, float]:
    """Return the distance of Kolmogorov and Smirnov between numbers, and the probability of one as large by chance.

    >>> value_shift(np.arange(50.0), np.arange(50.0) + 100)[0]
    1.0
    """
    from scipy.stats import ks_2samp

    old, new = old[np.isfinite(old)], new[np.isfinite(new)]
    if not len(old) or not len(new):
        return (0.0, 1.0) if len(old) == len(new) else (1.0, 0.0)
    found: Any = ks_2samp(old, new, method="asymp")
    return float(found.statistic), float(found.pvalue)


def share_shift(old: Array, new: Array) -> tuple[float, float]:
    """Return the total variation between the shares of codes, and the probability of a chi-squared as large by chance.

    >>> share_shift(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))[0]
    0.0
    """
    from scipy.stats import chi2_contingency

    codes = np.unique(np.concatenate([old, new]))
    table = np.array([[np.sum(part == code) for code in codes] for part in (old, new)], dtype=np.float64)
    if len(codes) < 2 or not table.sum(axis=1).all():
        return 0.0, 1.0
    shares = table / table.sum(axis=1, keepdims=True)
    tested: Any = chi2_contingency(table)
    return float(np.abs(shares[0] - shares[1]).sum() / 2), float(tested.pvalue)


def _some(n_rows: int, rng: np.random.Generator) -> Array:
    return np.arange(n_rows) if n_rows <= MOST_ROWS else np.sort(rng.choice(n_rows, MOST_ROWS, replace=False))
