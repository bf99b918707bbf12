"""An additive model by component-wise boosting: one effect curve per selected column, and often few are selected.

A model that a person can read. Thomas (2019), ch. 2.1.2. With `probing`, training stops as soon as the shuffled copy of
a column would be selected: what was selected before is likely to matter (ibid., ch. 4).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from metaml.algorithms.allowance import Allowance, Rounds
from metaml.algorithms.base import Algorithm, Booster, Matrix, Training, Validation, Vector
from metaml.algorithms.boosting import MAX_ROUNDS, boosted, stopping_parameters, two_columns
from metaml.algorithms.componentwise.effects import SAVED, Effect
from metaml.algorithms.componentwise.fitting import Ensemble, terms_of
from metaml.algorithms.componentwise.grids import Codes
from metaml.algorithms.componentwise.losses import Loss, chances, loss_of
from metaml.algorithms.componentwise.rounds import Move, next_move
from metaml.algorithms.componentwise.selection import Rows, probe, stability
from metaml.algorithms.preprocessing import Head
from metaml.algorithms.trusted_classes import State, TrustedClass, filled
from metaml.arrays import Flags, Floats
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task

PAIRS_AFTER = 50
"""Pairs of columns may join after so many rounds: columns by themselves come first."""
N_PAIRS = 25
"""Pairs of half samples that select columns: fewer than for `metaml columns`, as a search fits many models."""


@cache
def space(task: Task) -> Space:
    """Return the space of additive models."""
    parameters: list[Parameter] = [
        Float("learning_rate", 0.02, 0.5, default=0.1, log=True),
        Choice("effects", ("lines", "curves"), default="curves"),
        Integer("n_pairs", 0, 10, default=0),
        Choice("columns", ("all", "probing", "stability"), default="all"),
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
    return pipeline_of(AdditiveModel, config, task=task, seed=seed, n_threads=n_threads, seconds=seconds)


def pipeline_of(
    kind: type[AdditiveModel], config: Config, *, task: Task, seed: int, n_threads: int, seconds: float | None
) -> BaseEstimator:
    """Return an unfitted model of effects, which reads missing numbers and categories as they are."""
    head = Head(encoding="native", precision="float64", seed=seed)
    model = kind(config, seed=seed, n_threads=n_threads)
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
        loss = self._loss(y)
        weight = np.ones(len(Z)) if training.weight is None else np.asarray(training.weight, dtype=np.float64)
        rows = Rows(Z, training.categorical, weight / weight.mean(), loss.target(y))
        timer, most = Rounds(training.allowance), training.rounds or MAX_ROUNDS
        ensemble = self._ensemble(rows, loss, training.allowance)
        patience = self.config.get("early_stopping_rounds", most)
        held_out = None if training.validation is None else _HeldOut(ensemble, loss, training.validation)
        best, kept, self.intercept_, self.rounds_ = np.inf, dict(ensemble.totals), ensemble.intercept, 0
        for n_done in range(1, most + 1):
            if self.config.get("n_pairs") and n_done == PAIRS_AFTER:
                ensemble.add_pairs(loss.gradient(rows.target, ensemble.scores)[0], self.config["n_pairs"])
            move = next_move(ensemble, loss, rows.target, self.config["learning_rate"])
            if move is None:
                break
            ensemble.take(move.values, move.term, move.shift)
            reached = -float(n_done) if held_out is None else held_out.loss_after(move)
            if reached < best:
                best, kept, self.intercept_ = reached, dict(ensemble.totals), ensemble.intercept
                self.rounds_ = n_done
            elif n_done - self.rounds_ >= patience:
                break
            if n_done < most and not timer.may_go_on():
                break
        self.rounds_ = max(self.rounds_, 1)
        self.n_columns_, self.effects_ = Z.shape[1], ensemble.effects(kept)

    def _loss(self, y: Vector) -> Loss:
        return loss_of(int(y.max()) + 1 if self.is_classification else None)

    def _ensemble(self, rows: Rows, loss: Loss, allowance: Allowance) -> Ensemble:
        """Return an ensemble without effects, of the columns that are selected beforehand."""
        curves, rng = self.config["effects"] == "curves", np.random.default_rng(self.seed)
        terms = terms_of(rows.Z, rows.is_category)
        how = self.config.get("columns", "all")
        if how == "probing":
            chosen = probe(rows, loss, rng, curves=curves).first > 0
        elif how == "stability":
            # The other half of the time is for the model.
            chosen = stability(
                rows, loss, rng, curves=curves, n_pairs=N_PAIRS, may_go_on=lambda: allowance.left > allowance.used
            ).chosen
        else:
            chosen = np.ones(len(terms), dtype=bool)
        return Ensemble(
            rows.Z,
            rows.is_category,
            rows.weight,
            loss.start(rows.target, rows.weight),
            curves=curves,
            shadows=rng if self.config.get("stopping") == "probing" else None,
            terms=[term for term, flag in zip(terms, chosen, strict=True) if flag],
        )

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
        found = chances(self.scores(Z))
        return two_columns(found[:, 0]) if found.shape[1] == 1 else found


class _HeldOut:
    """The rows that decide when to stop, and their scores so far."""

    def __init__(self, ensemble: Ensemble, loss: Loss, validation: Validation) -> None:
        self._Z, y, self._weight = validation
        self._ensemble, self._loss, self._target = ensemble, loss, loss.target(y)
        self._scores: Floats = np.tile(ensemble.intercept, (len(self._Z), 1))
        self._codes: dict[int, Codes] = {}

    def loss_after(self, move: Move) -> float:
        """Return the mean loss of the rows once an effect has moved."""
        if move.term not in self._codes:
            self._codes[move.term] = self._ensemble.terms[move.term].codes(self._Z)
        self._scores += move.values[self._codes[move.term]] + move.shift
        return float(np.average(self._loss.of_rows(self._target, self._scores), weights=self._weight))


def make_model(kind: type, state: State) -> AdditiveModel:
    """Return a model of a file whose effects fit together."""
    intercept, effects = state["intercept_"], state["effects_"]
    if intercept.ndim != 1 or intercept.dtype != np.float64 or not all(type(effect) is Effect for effect in effects):
        raise ValueError("an additive model has other effects than it says")
    for effect in effects:
        if effect.values.shape[1] != len(intercept) or max(effect.term.columns) >= state["n_columns_"]:
            raise ValueError("an effect does not fit its model")
    model: AdditiveModel = filled(kind, state)
    return model


def reads(model: AdditiveModel) -> Flags:
    """Return the columns that have an effect, alone or in a pair."""
    used = [column for effect in model.effects_ for column in effect.term.columns]
    flags: Flags = np.isin(np.arange(model.n_columns_), used)
    return flags


ALGORITHM = Algorithm(
    "additive",
    space,
    build,
    modules=("sklearn.preprocessing",),
    saves=(
        *SAVED,
        TrustedClass("additive", "metaml.algorithms.componentwise.additive:AdditiveModel", make=make_model),
    ),
    stacks=False,
    least_budget=None,
    is_readable=True,
    reads=reads,
)
