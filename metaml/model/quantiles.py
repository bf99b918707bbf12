"""Quantiles of a number: of the distributions that members predict, or the ends of intervals around a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Floats
from metaml.errors import BadRequest

if TYPE_CHECKING:
    import pandas as pd

    from metaml.model.fitted import Model

MIDDLE = 1e-9
"""A level this near to one half is the prediction itself where only intervals are known."""


def quantile_table(model: Model, X: pd.DataFrame, levels: Sequence[float]) -> pd.DataFrame:
    """Return a column for each level, such as `q0.05`, for rows as features."""
    import pandas as pd

    if model.labels is not None:
        raise BadRequest(f"The model predicts the class {model.schema.target!r}, so there are no quantiles.")
    wrong = [level for level in levels if not 0 < level < 1]
    if wrong or not len(levels):
        seen = f"{wrong[0]:g}" if wrong else "none"
        raise BadRequest(f"Quantiles have levels between 0 and 1, but {seen} was given. Give some, as 0.05,0.5,0.95.")
    weighted = [member for member in model.members if member.weight]
    know = all(hasattr(estimator, "predict_quantiles") for member in weighted for estimator in member.estimators)
    values = _of_distributions(model, X, levels) if know else _of_intervals(model, X, levels)
    # Quantiles of a higher level are never lower, also where intervals of different width meet.
    order = np.argsort(levels, kind="stable")
    values[:, order] = np.maximum.accumulate(values[:, order], axis=1)
    return pd.DataFrame(values, columns=[f"q{level:g}" for level in levels])


def _of_distributions(model: Model, X: pd.DataFrame, levels: Sequence[float]) -> Floats:
    """Return the weighted mean of the quantiles of all estimators: the form of their distributions stays."""
    total: Floats = np.zeros((len(X), len(levels)))
    if not len(X):
        return total
    from metaml.algorithms.tabular import quietly

    weights = sum(member.weight for member in model.members)
    with quietly(n_threads=1):
        for member in model.members:
            for estimator in member.estimators if member.weight else ():
                share = member.weight / weights / len(member.estimators)
                total += share * estimator.predict_quantiles(X, list(levels))
    return total


def _of_intervals(model: Model, X: pd.DataFrame, levels: Sequence[float]) -> Floats:
    """Return ends of intervals: errors are taken to be as often above as below."""
    from metaml.model.uncertainty import bounds

    columns = []
    for level in levels:
        if abs(level - 0.5) < MIDDLE:
            columns.append(model.outputs(X))
        else:
            low, high = bounds(model, X, abs(2 * level - 1))
            columns.append(low if level < 0.5 else high)
    return np.column_stack(columns)
