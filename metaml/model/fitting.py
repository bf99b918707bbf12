"""Training the members of a model: once on all rows, or once per fold."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.evaluation.best_columns import columns_for
from metaml.evaluation.crossval import fit, fold_seed
from metaml.model.fitted import Member

if TYPE_CHECKING:
    from metaml.algorithms import Algorithm
    from metaml.data import Dataset
    from metaml.evaluation import FoldPlan
    from metaml.spaces.config import Config


def fit_member(
    dataset: Dataset,
    algorithm: Algorithm,
    config: Config,
    *,
    seed: int,
    weight: float = 1.0,
    score: float | None = None,
    plan: FoldPlan | None = None,
    n_threads: int = 1,
) -> Member:
    """Return a fitted member of a model.

    Without a `plan` one estimator learns from all rows. With one there is an estimator per fold, the same that
    cross-validation under `seed` fitted, whose predictions are averaged.
    """
    parts = [(np.arange(len(dataset.y)), seed)]
    if plan is not None:
        parts = [(plan.split(fold)[0], fold_seed(seed, fold)) for fold in range(plan.n_folds)]
    estimators: list[Any] = []
    columns = columns_for(config, dataset)
    # The warnings of a learner do not help the person who asked for a model.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows, own_seed in parts:
            estimator: Any = algorithm.unfitted(config, dataset, seed=own_seed, n_threads=n_threads)
            X = columns if len(rows) == len(dataset.y) else columns.iloc[rows].reset_index(drop=True)
            estimators.append(fit(estimator, X, dataset.y[rows], dataset.weights_of(rows)))
    return Member(algorithm.name, dict(config), weight, tuple(estimators), score)
