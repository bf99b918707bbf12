"""LightGBM through its low-level interface: the least work between a matrix and its trees."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from metaml.arrays import Floats
from metaml.system.threads import importing

Setting = str | int | float | bool

SMALL_DATA: dict[str, Setting] = {
    "verbosity": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "min_data_in_leaf": 1,
    "min_data_in_bin": 1,
    "feature_pre_filter": False,
}
"""Without leaves and bins of a single row, LightGBM predicts a constant until it has seen 41 rows."""


def boost(X: Floats, y: Floats, settings: Mapping[str, Setting], *, n_trees: int, seed: int) -> Any:
    """Return a LightGBM booster of `n_trees` trees grown on all rows."""
    with importing:
        import lightgbm

    parameters = {**SMALL_DATA, **settings, "seed": seed}
    data = lightgbm.Dataset(X, y, params=parameters)
    booster = lightgbm.Booster(parameters, data)
    for _ in range(n_trees):
        if booster.update():
            break
    return booster


def booster_prediction(booster: Any, X: Floats) -> Floats:
    """Return the booster's prediction for each row.

    It uses one thread. Several threads would wait for the slowest, and one is always slow while workers evaluate.
    """
    return np.asarray(booster.predict(X, num_threads=1), dtype=np.float64)
