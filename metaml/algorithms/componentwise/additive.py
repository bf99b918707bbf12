"""An additive model by component-wise boosting: one effect curve per selected column, and often few are selected.

A model that a person can read. Thomas (2019), ch. 2.1.2. With `probing`, training stops as soon as the shuffled copy of
a column would be selected: what was selected before is likely to matter (ibid., ch. 4).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from metaml.algorithms.allowance import Rounds
from metaml.algorithms.base import Algorithm, Booster, Matrix, Training, Validation, Vector
from metaml.algorithms.boosting import MAX_ROUNDS, boosted, stopping_parameters
from metaml.algorithms.componentwise.effects import SAVED, Effect
from metaml.algorithms.componentwise.fitting import Ensemble
from metaml.algorithms.componentwise.grids import Codes
from metaml.algorithms.preprocessing import Head
from metaml.algorithms.trusted_classes import State, TrustedClass, filled
from metaml.arrays import Floats
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task

PAIRS_AFTER = 50
"""Pairs of columns may join after so many rounds: columns by themselves come first."""
LEAST_CURVATURE = 0.02
"""Where nearly all rows are certain, steps would become too long without a least curvature."""


@cache
def space(task: Task) -> Space:
    """Return the space of additive models."""
    parameters: list[Parameter] = [
        Float("learning_rate", 0.02, 0.5, default=0.1, log=True),
        Choice("effects", ("lines", "curves"), default="curves"),
        Integer("n_pairs", 0, 10, default=0),
        Choice("stopping", ("validation", "probing"), default="validation"),
        # A round moves one effect only, so patience is longer than that of other boosters.
        *stopping_parameters(when=("stopping", ("validation",)), patience=(5, 200, 100)),
    ]
    if task != "regression":
        parameters.append(Choice("class_weight", (None, "balanced"), default=None))
    return Space(parameters)


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted additive model for `config`; missing numbers and categories have effects of their own."""
    space(task).check(config)
    head = Head(encoding="native", precision="float64", seed=seed)
    model = AdditiveModel(config, seed=seed, n_threads=n_threads)
    return boosted(config, head, model, task=task, seed=seed, n_threads=n_threads, seconds=seconds)


class AdditiveModel(Booster):
    """Component-wise boosting of the squared error, or of the log loss of two or more classes."""

    intercept_: Floats
    effects_: tuple[Effect, ...]
    n_columns_: int

    @property
    def is_classification(self) -> bool:
        """Return whether there are classes to predict."""
        return "class_weight" in self.config

    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        """Learn effects from rows and their target."""
        weight = np.ones(len(Z)) if training.weight is None else np.asarray(training.weight, dtype=np.float64)
        target = self._target(y, int(y.max()) + 1 if self.is_classification else 0)
        ensemble = Ensemble(
            Z,
            training.categorical,
            weight / weight.mean(),
            _start(target, weight) if self.is_classification else np.average(target, axis=0, weights=weight),
            curves=self.config["effects"] == "curves",
            shadows=np.random.default_rng(self.seed) if self.config["stopping"] == "probing" else None,
        )
        timer, most = Rounds(training.allowance), training.rounds or MAX_ROUNDS
        patience = self.config.get("early_stopping_rounds", most)
        held_out = None if training.validation is None else _HeldOut(self, ensemble, training.validation)
        best, kept, self.rounds_ = np.inf, dict(ensemble.totals), 0
        for n_done in range(1, most + 1):
            if not self._round(ensemble, target, held_out, n_done):
                break
            loss = -float(n_done) if held_out is None else held_out.loss()
            if loss < best:
                best, kept, self.rounds_ = loss, dict(ensemble.totals), n_done
            elif n_done - self.rounds_ >= patience:
                break
            if n_done < most and not timer.may_go_on():
                break
        self.rounds_ = max(self.rounds_, 1)
        self.n_columns_, self.intercept_, self.effects_ = Z.shape[1], ensemble.intercept, ensemble.effects(kept)

    def _round(self, ensemble: Ensemble, target: Floats, held_out: _HeldOut | None, n_done: int) -> bool:
        """Move one effect; return False if none helps, or a shadow would help more."""
        gradient, curvature = self._gradient(target, ensemble.scores)
        if self.config["n_pairs"] and n_done == PAIRS_AFTER:
            ensemble.add_pairs(gradient, self.config["n_pairs"])
        step = ensemble.best(gradient)
        if step is None:
            return False
        values, term = self.config["learning_rate"] / curvature * step.values, ensemble.term_of(step)
        ensemble.take(values, term)
        if held_out is not None:
            held_out.take(values, term)
        return True

    def _target(self, y: Vector, n_classes: int) -> Floats:
        """Return what is predicted, as a matrix: a number, the second of two classes, or a column for each of more."""
        if not self.is_classification:
            return np.asarray(y, dtype=np.float64)[:, None]
        return np.asarray(y[:, None] == np.arange(n_classes)[1 if n_classes == 2 else 0 :], dtype=np.float64)

    def _gradient(self, target: Floats, scores: Floats) -> tuple[Floats, float]:
        """Return the negative gradient of the loss for each row, and the mean curvature."""
        if not self.is_classification:
            return target - scores, 1.0
        chances = _chances(scores)
        return target - chances, max(float((chances * (1 - chances)).mean()), LEAST_CURVATURE)

    def scores(self, Z: Matrix) -> Floats:
        """Return the sum of all effects (rows × outputs)."""
        result: Floats = np.tile(self.intercept_, (len(Z), 1))
        for effect in self.effects_:
            result += effect.at(Z)
        return result

    def predict(self, Z: Matrix) -> Vector:
        """Return the predicted target of each row."""
        return np.asarray(self.scores(Z)[:, 0])

    def predict_proba(self, Z: Matrix) -> Matrix:
        """Return the probability of each class."""
        chances = _chances(self.scores(Z))
        return np.column_stack([1 - chances, chances]) if chances.shape[1] == 1 else chances


class _HeldOut:
    """The rows that decide when to stop, and their scores so far."""

    def __init__(self, model: AdditiveModel, ensemble: Ensemble, validation: Validation) -> None:
        self._Z, y, self._weight = validation
        n_outputs = len(ensemble.intercept)
        self._target = model._target(y, 2 if n_outputs == 1 else n_outputs)
        self._ensemble, self._is_classification = ensemble, model.is_classification
        self._scores: Floats = np.tile(ensemble.intercept, (len(self._Z), 1))
        self._codes: dict[int, Codes] = {}

    def take(self, values: Floats, term: int) -> None:
        """Add what an effect gained."""
        if term not in self._codes:
            self._codes[term] = self._ensemble.terms[term].codes(self._Z)
        self._scores += values[self._codes[term]]

    def loss(self) -> float:
        """Return the mean loss of the rows."""
        if not self._is_classification:
            losses = np.square(self._target - self._scores)[:, 0]
        elif self._scores.shape[1] == 1:
            losses = np.logaddexp(0.0, np.where(self._target > 0, -self._scores, self._scores))[:, 0]
        else:
            top = self._scores.max(axis=1, keepdims=True)
            total = top[:, 0] + np.log(np.exp(self._scores - top).sum(axis=1))
            losses = total - (self._target * self._scores).sum(axis=1)
        return float(np.average(losses, weights=self._weight))


def _start(target: Floats, weight: Floats) -> Floats:
    """Return the log odds, or the logarithm of the shares of more than two classes."""
    shares = np.clip(np.average(target, axis=0, weights=weight), 1e-6, 1 - 1e-6)
    return np.asarray(np.log(shares / (1 - shares)) if len(shares) == 1 else np.log(shares))


def _chances(scores: Floats) -> Floats:
    """Return the probability of the second class, or of each of more than two."""
    if scores.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-np.clip(scores, -500, 500))))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _make_model(kind: type, state: State) -> AdditiveModel:
    """Return a model of a file whose effects fit together."""
    intercept, effects = state["intercept_"], state["effects_"]
    if intercept.ndim != 1 or intercept.dtype != np.float64 or not all(type(effect) is Effect for effect in effects):
        raise ValueError("an additive model has other effects than it says")
    for effect in effects:
        if effect.values.shape[1] != len(intercept) or max(effect.term.columns) >= state["n_columns_"]:
            raise ValueError("an effect does not fit its model")
    model: AdditiveModel = filled(kind, state)
    return model


ALGORITHM = Algorithm(
    "additive",
    space,
    build,
    modules=("sklearn.preprocessing",),
    saves=(
        *SAVED,
        TrustedClass("additive", "metaml.algorithms.componentwise.additive:AdditiveModel", make=_make_model),
    ),
    stacks=False,
    is_searched=False,
    is_readable=True,
)
