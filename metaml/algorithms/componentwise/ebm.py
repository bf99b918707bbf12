"""Explainable boosting machine (Nori et al. 2019): effects of columns and pairs as steps; an optional extra.

interpret-core trains it. What is kept are its bins and scores as effects of metaml's own, so that a saved model holds
arrays and needs no interpret-core. A model of all rows is the mean of bags, each of which holds out other rows. Others
have no bags: the models of the folds are averaged anyway.
"""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaml.algorithms.base import Algorithm, Matrix, Training, Vector
from metaml.algorithms.boosting import rounds_without_stopping, split_rows, stopping_parameters
from metaml.algorithms.componentwise.additive import AdditiveModel, make_model, pipeline_of
from metaml.algorithms.componentwise.effects import SAVED, Effect, Term
from metaml.algorithms.componentwise.grids import Grid, Steps
from metaml.algorithms.trusted_classes import TrustedClass
from metaml.arrays import Flags, Floats
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task

MOST_ROUNDS = 5000
"""A round moves the effect of each column; the learning rates are small."""
TRIAL_ROUNDS = 10
"""So many rounds show how long one takes: interpret-core cannot be stopped on its way without a process of its own."""
N_BAGS = 8
"""A single model that stops by the few rows it holds out may be far too sure of itself; the mean of bags is less so."""
LEAST_HESSIAN = 0.1
"""For two classes, a step needs this much doubt left in its rows (p · (1 − p), summed). Where the few rows held out are
all right, training would else go on until probabilities are 0 and 1."""
MOST_PAIRED = 100
"""With more columns, ranking all pairs takes longer than the rest."""


@cache
def space(task: Task) -> Space:
    """Return the space of explainable boosting machines; pairs are for numbers and two classes."""
    parameters: list[Parameter] = [
        Float("learning_rate", 0.005, 0.2, default=0.04, log=True),
        Integer("max_leaves", 2, 5, default=2),
        Integer("max_bins", 16, 1024, default=256, log=True),
        Integer("min_samples_leaf", 2, 50, default=4, log=True),
        Integer("smoothing_rounds", 0, 500, default=75),
    ]
    if task != "multiclass":
        parameters.append(Integer("n_pairs", 0, 20, default=5))
    parameters += stopping_parameters(patience=(5, 200, 100))
    if task != "regression":
        parameters.append(Choice("class_weight", (None, "balanced"), default=None))
    return Space(parameters)


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted machine for `config`; missing numbers and categories have steps of their own."""
    space(task).check(config)
    return pipeline_of(EbmModel, config, task=task, seed=seed, n_threads=n_threads, seconds=seconds)


class EbmModel(AdditiveModel):
    """The effects of a machine that interpret-core has trained."""

    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        """Learn effects from rows and their target."""
        rows, target = Z, y
        weight = np.ones(len(Z)) if training.weight is None else np.asarray(training.weight, dtype=np.float64)
        bags = np.ones((len(Z), 1), dtype=np.int8) if training.rounds is None else self._bags(y)
        if training.validation is not None:
            held_out, held_out_target, held_out_weight = training.validation
            rows, target = np.vstack([Z, held_out]), np.concatenate([y, held_out_target])
            more = np.ones(len(held_out)) if held_out_weight is None else held_out_weight
            weight = np.concatenate([weight, more])
            bags = np.vstack([bags, np.full((len(held_out), 1), -1, dtype=np.int8)])
        table = category_words(rows, training.categorical)
        stops = bool((bags < 0).any())
        most = MOST_ROUNDS if stops else rounds_without_stopping(self.config["learning_rate"])
        n_rounds = most
        if training.allowance.is_limited and most > TRIAL_ROUNDS:
            begin = training.allowance.used
            trial = self._trained(TRIAL_ROUNDS, training.categorical, table, target, weight, bags)
            each = max(training.allowance.used - begin, 1e-6) / TRIAL_ROUNDS
            n_rounds = int(min(most, training.allowance.left / each))
        found = trial if n_rounds <= TRIAL_ROUNDS < most else None
        if found is None:
            found = self._trained(n_rounds, training.categorical, table, target, weight, bags)
        n_done = math.ceil(max(found.best_iteration_[0]) / max(Z.shape[1], 1))
        training.allowance.ended_training = n_rounds < most and n_done >= n_rounds
        self.rounds_, self.n_columns_ = max(n_done, 1), Z.shape[1]
        self.intercept_ = np.atleast_1d(np.asarray(found.intercept_, dtype=np.float64))
        self.effects_ = effects_of(found, training.categorical, len(self.intercept_))

    def _bags(self, y: Vector) -> Matrix:
        """Return which rows each bag learns from (1), and which it stops by (-1)."""
        rng, n_classes = np.random.default_rng(self.seed), int(y.max()) + 1 if self.is_classification else None
        bags = np.ones((len(y), N_BAGS), dtype=np.int8)
        for bag in bags.T:
            split = split_rows(y, n_classes, self.config["validation_fraction"], rng)
            if split is not None:
                bag[split[1]] = -1
        return bags

    def _trained(
        self, n_rounds: int, categorical: Flags, table: pd.DataFrame, y: Vector, weight: Floats, bags: Matrix
    ) -> Any:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        names = ("learning_rate", "max_leaves", "max_bins", "min_samples_leaf", "early_stopping_rounds")
        has_pairs = 1 < table.shape[1] <= MOST_PAIRED
        kind = ExplainableBoostingClassifier if self.is_classification else ExplainableBoostingRegressor
        model = kind(
            **{name: self.config[name] for name in names},
            feature_types=["nominal" if flag else "continuous" for flag in categorical],
            smoothing_rounds=min(self.config["smoothing_rounds"], n_rounds),
            interactions=self.config.get("n_pairs", 0) if has_pairs else 0,
            max_rounds=n_rounds,
            outer_bags=bags.shape[1],
            **({"min_hessian": LEAST_HESSIAN} if self.is_classification and y.max() == 1 else {}),
            n_jobs=1,
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            # It warns of missing values, which its pictures do not show; ours do.
            warnings.simplefilter("ignore")
            return model.fit(table, y, sample_weight=weight, bags=bags)


def category_words(Z: Matrix, categorical: Flags) -> pd.DataFrame:
    """Return a matrix as interpret-core reads it: numbers, and codes of categories as words."""
    columns = {}
    for place, is_category in enumerate(categorical):
        values = Z[:, place]
        if is_category:
            words = np.array([None if np.isnan(value) else str(int(value)) for value in values], dtype=object)
            columns[f"c{place}"] = pd.Series(words, dtype=object)
        else:
            columns[f"c{place}"] = pd.Series(values)
    return pd.DataFrame(columns)


def effects_of(found: Any, categorical: Flags, n_outputs: int) -> tuple[Effect, ...]:
    """Return the terms of a fitted machine as effects; terms that add nothing are left out."""
    effects = []
    for columns, scores in zip(found.term_features_, found.term_scores_, strict=True):
        grids: list[Grid] = []
        values = np.asarray(scores, dtype=np.float64)
        for axis, column in enumerate(columns):
            bins = found.bins_[column]
            bins = bins[min(len(bins), len(columns)) - 1]
            if categorical[column]:
                points, order = category_order(bins, values.shape[axis])
                grids.append(Grid(points, is_category=True))
            else:
                # The first place is that of missing values, and the last that of unknown words.
                order = [*range(1, len(bins) + 2), 0]
                grids.append(Steps(np.asarray(bins, dtype=np.float64), is_category=False))
            values = np.take(values, order, axis=axis)
        if np.any(values):
            term = Term(tuple(int(column) for column in columns), tuple(grids))
            effects.append(Effect(term, values.reshape(-1, n_outputs)))
    return tuple(effects)


def category_order(bins: dict[str, int], n_places: int) -> tuple[Floats, list[int]]:
    """Return the codes of a category, ascending, and where the scores of each and of unknown ones are.

    >>> category_order({"3": 1, "0": 2}, 4)
    (array([0., 3.]), [2, 1, 3])
    """
    codes = sorted((float(word), place) for word, place in bins.items())
    return np.array([code for code, _ in codes]), [*(place for _, place in codes), n_places - 1]


ALGORITHM = Algorithm(
    "ebm",
    space,
    build,
    library="interpret-core",
    modules=("interpret", "interpret.glassbox"),
    is_extra=True,
    saves=(
        *SAVED,
        TrustedClass("Steps", "metaml.algorithms.componentwise.grids:Steps"),
        TrustedClass("ebm", "metaml.algorithms.componentwise.ebm:EbmModel", make=make_model),
    ),
    stacks=False,
    least_budget=None,
    is_readable=True,
)
