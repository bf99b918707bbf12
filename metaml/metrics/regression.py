"""Metrics of regression: of predicted values. A row of weight 2 counts as two rows."""

from __future__ import annotations

import math
import re
from functools import partial

import numpy as np

from metaml.arrays import Array
from metaml.metrics.base import Metric, Weight, mean_over_rows
from metaml.metrics.ranks import ranks


def neg_rmse(truth: Array, values: Array, weight: Weight = None) -> float:
    """Return the negative root of the mean squared error."""
    unit = _unit_of(truth)
    return -math.sqrt(_mean_square((truth - values) / unit, weight)) * unit


def neg_mae(truth: Array, values: Array, weight: Weight = None) -> float:
    """Return the negative mean absolute error."""
    return -mean_over_rows(np.abs(truth - values), weight)


def neg_pinball(truth: Array, values: Array, weight: Weight = None, *, quantile: float) -> float:
    """Return minus the mean pinball loss, which a `quantile` of the target minimises (Koenker & Bassett 1978)."""
    errors = truth - values
    return -mean_over_rows(np.maximum(quantile * errors, (quantile - 1) * errors), weight)


def pinball_named(name: str) -> Metric | None:
    """Return the metric that a name such as `pinball@0.9` or `quantile@0.9` says; None if it is another name."""
    found = re.fullmatch(r"(?:neg_)?(?:pinball|quantile)@(\d*\.\d+)", name)
    quantile = float(found[1]) if found else 0.0
    if not 0 < quantile < 1:
        return None
    return Metric(
        name=f"neg_pinball@{quantile:g}",
        label=f"pinball loss at {quantile:g}",
        tasks=("regression",),
        needs="values",
        function=partial(neg_pinball, quantile=quantile),
        is_loss=True,
        is_in_target_unit=True,
    )


def neg_mape(truth: Array, values: Array, weight: Weight = None) -> float:
    """Return the negative mean absolute error as a share of the truth; a truth of 0 counts as the smallest float."""
    return -mean_over_rows(np.abs(truth - values) / np.maximum(np.abs(truth), np.finfo(np.float64).eps), weight)


def neg_smape(truth: Array, values: Array, weight: Weight = None) -> float:
    """Return the negative mean absolute error as a share of the mean size of truth and prediction, in [-2, 0]."""
    size = (np.abs(truth) + np.abs(values)) / 2
    return -mean_over_rows(np.abs(truth - values) / np.where(size > 0, size, 1.0), weight)


def r2(truth: Array, values: Array, weight: Weight = None) -> float:
    """Return the share of variance explained; for a constant target 1 if all is right, else 0."""
    if len(truth) < 2:
        return math.nan
    if np.ptp(truth) == 0:
        return float(np.array_equal(truth, values))
    unit = _unit_of(truth)
    spread = _mean_square((truth - mean_over_rows(truth, weight)) / unit, weight)
    return 1 - _mean_square((truth - values) / unit, weight) / spread


def spearman(truth: Array, values: Array, weight: Weight = None) -> float:
    """Return the correlation of ranks; 0 when all predictions are equal."""
    true_ranks, given_ranks = ranks(truth, weight), ranks(values, weight)
    true_ranks, given_ranks = (item - mean_over_rows(item, weight) for item in (true_ranks, given_ranks))
    if weight is not None:
        if min(np.ptp(truth), np.ptp(values)) == 0:
            return math.nan if np.ptp(truth) == 0 else 0.0
        true_ranks, given_ranks = true_ranks * np.sqrt(weight), given_ranks * np.sqrt(weight)
    if not true_ranks.any():
        return math.nan
    if not given_ranks.any():
        return 0.0
    return float(true_ranks @ given_ranks / math.sqrt((true_ranks @ true_ranks) * (given_ranks @ given_ranks)))


def _unit_of(truth: Array) -> float:
    """Return 1, or the size of targets whose squares leave the range of floats."""
    size = float(np.abs(truth).max(initial=0.0))
    return 1.0 if size == 0 or 1e-140 < size < 1e140 else size


def _mean_square(errors: Array, weight: Weight) -> float:
    return mean_over_rows(np.square(errors), weight)


METRICS = (
    Metric(
        name="neg_rmse",
        label="RMSE",
        tasks=("regression",),
        needs="values",
        function=neg_rmse,
        is_loss=True,
        is_in_target_unit=True,
        openml_name="root_mean_squared_error",
        openml_tasks=("regression",),
    ),
    Metric(
        name="neg_mae",
        label="MAE",
        tasks=("regression",),
        needs="values",
        function=neg_mae,
        is_loss=True,
        is_in_target_unit=True,
        openml_name="mean_absolute_error",
        openml_tasks=("regression",),
    ),
    Metric(name="neg_mape", label="MAPE", tasks=("regression",), needs="values", function=neg_mape, is_loss=True),
    Metric(name="neg_smape", label="SMAPE", tasks=("regression",), needs="values", function=neg_smape, is_loss=True),
    Metric(name="r2", label="R²", tasks=("regression",), needs="values", function=r2),
    Metric(name="spearman", label="Spearman", tasks=("regression",), needs="values", function=spearman),
)
