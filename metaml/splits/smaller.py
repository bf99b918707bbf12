"""Smaller versions of a fold plan, for a first look at a configuration: fewer training rows, or fewer folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metaml.errors import BadRequest
from metaml.splits.fold_plan import ALWAYS_TRAINS, UNUSED, FoldPlan, Rows, Strategy, packed
from metaml.splits.shuffled import MOST_HELD_OUT, subsample

if TYPE_CHECKING:
    from metaml.data import Dataset

_OF_ONE_FOLD: dict[Strategy, Strategy] = {
    "stratified": "holdout",
    "kfold": "holdout",
    "group": "group_holdout",
    "forward": "forward_holdout",
    "group_forward": "group_forward_holdout",
}


def on_fewer_rows(plan: FoldPlan, dataset: Dataset, n_rows: int) -> FoldPlan:
    """Return a plan of one fold that trains on `n_rows` of the training rows of a fold of this plan.

    It tests what that fold tests, so that a small look is not also a noisy one. The fold is the first one or, where
    folds follow one another in time, the last. Plans of more rows keep those of fewer, as far as the
    shares of the classes allow.
    """
    if n_rows < 2:
        raise BadRequest(f"Nothing can be learnt from {n_rows} training rows. Allow at least 2.")
    train, test = plan.split(plan.n_folds - 1 if plan.is_forward else 0)
    assignment = np.full(len(plan.assignment), UNUSED, dtype=np.int16)
    assignment[_drawn(train, dataset, n_rows, plan.seed)] = ALWAYS_TRAINS
    assignment[_drawn(test, dataset, MOST_HELD_OUT, plan.seed)] = 0
    n_used = int((assignment != UNUSED).sum())
    return FoldPlan(_OF_ONE_FOLD.get(plan.strategy, plan.strategy), 1, plan.seed, n_used, assignment)


def on_fewer_folds(plan: FoldPlan, n_folds: int) -> FoldPlan:
    """Return a plan that tests only the first folds of this one, each trained on the same rows.

    >>> from metaml.splits import given_plan
    >>> on_fewer_folds(given_plan([0, 1, 2]), 2).assignment.tolist()
    [0, 1, -2]
    """
    if not 1 <= n_folds <= plan.n_folds:
        raise BadRequest(f"A plan of {plan.n_folds} folds has no first {n_folds}. Ask for 1 to {plan.n_folds}.")
    if n_folds == plan.n_folds:
        return plan
    trains = [np.isin(np.arange(len(plan.assignment)), plan.split(fold)[0]) for fold in range(n_folds)]
    assignment = np.where(plan.assignment < n_folds, plan.assignment, UNUSED).astype(np.int16)
    assignment[(plan.assignment >= n_folds) & np.any(trains, axis=0)] = ALWAYS_TRAINS
    strategy = _OF_ONE_FOLD.get(plan.strategy, plan.strategy) if n_folds == 1 else plan.strategy
    training = None if plan.training is None else packed(np.array(trains))
    return FoldPlan(strategy, n_folds, plan.seed, plan.max_rows, assignment, training)


def _drawn(rows: Rows, dataset: Dataset, most: int, seed: int) -> Rows:
    """Return at most so many of these rows, with the classes in proportion."""
    if len(rows) <= most:
        return rows
    classes = None if dataset.task == "regression" else dataset.y[rows]
    return rows[subsample(len(rows), classes, most, np.random.default_rng(seed))]
