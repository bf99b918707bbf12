"""The distribution of a number: mean and spread as sums of effects of columns, boosted one parameter at a time.

Thomas (2019), ch. 7: noncyclical component-wise boosting of location and scale. The model predicts the mean and, by
`predict_quantiles`, any quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Algorithm, Matrix, Training, Vector
from metaml.algorithms.boosting import REFIT, stopping_parameters
from metaml.algorithms.categories import Columns
from metaml.algorithms.componentwise.additive import AdditiveModel, make_model
from metaml.algorithms.componentwise.effects import SAVED
from metaml.algorithms.componentwise.families import FAMILIES, FamilyName, family_for, family_named
from metaml.algorithms.componentwise.losses import Loss
from metaml.algorithms.preprocessing import Head
from metaml.algorithms.tabular import TabularRegressor, quietly, rows_of_numbers
from metaml.algorithms.trusted_classes import ESTIMATOR, State, TrustedClass, filled
from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.spaces import Choice, Float, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from metaml.data import Task


@cache
def space(task: Task) -> Space:  # noqa: ARG001 - it serves one task only
    """Return the space of distributions. A family that does not allow for the target is replaced by the Gaussian."""
    return Space(
        [
            Choice("family", FAMILIES, default="gaussian"),
            Float("learning_rate", 0.02, 0.5, default=0.1, log=True),
            Choice("effects", ("lines", "curves"), default="curves"),
            Choice("columns", ("all", "probing", "stability"), default="all"),
            *stopping_parameters(patience=(5, 200, 100)),
        ]
    )


def build(
    config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None
) -> DistributionRegressor:
    """Return an unfitted distribution for `config`."""
    if task != "regression":
        raise BadRequest(f"The algorithm distribution is for numbers, but the target is {task}. Leave it out.")
    space(task).check(config)
    values: dict[str, Any] = config
    head = Head(encoding="native", precision="float64", seed=seed)
    model = DistributionModel(config, seed=seed, n_threads=n_threads)
    return DistributionRegressor(
        head,
        model,
        holdout=values["validation_fraction"],
        refit=values[REFIT],
        seed=seed,
        n_threads=n_threads,
        seconds=seconds,
    )


class DistributionModel(AdditiveModel):
    """Boosting of the likelihood: one score for location and one for scale."""

    family_: FamilyName

    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        """Learn effects on both parameters from rows and their target."""
        self.family_ = family_for(str(self.config["family"]), y)
        super().fit(Z, y, training)

    def _loss(self, y: Vector) -> Loss:  # noqa: ARG002 - the family is known
        return family_named(self.family_)

    def predict(self, Z: Matrix) -> Vector:
        """Return the expected value of each row."""
        return family_named(self.family_).mean(self.scores(Z))

    def quantile(self, Z: Matrix, level: float) -> Vector:
        """Return the value that a row stays below with probability `level`."""
        return family_named(self.family_).quantile(self.scores(Z), level)


class DistributionRegressor(TabularRegressor):
    """A regressor that knows how much a number varies; means stay within the widened range of the training targets.

    The model sees the target standardised, its logarithm standardised, its multiple of the mean, or counts.
    """

    def fit(self, X: pd.DataFrame, y: Vector, sample_weight: Vector | None = None) -> Self:
        """Learn from the training rows; those of weight 0 do not matter."""
        allowance = Allowance(self.seconds)
        X, y, given = rows_of_numbers(X, y, sample_weight)
        self.low_, self.high_ = float(y.min()), float(y.max())
        self.family_ = family_for(self.model.config["family"], y)
        if self.family_ == "gamma":
            self.mean_, self.std_ = 0.0, float(np.average(y, weights=given)) if np.ptp(y) > 0 else 0.0
        elif self.family_ == "negative_binomial":
            self.mean_, self.std_ = 0.0, float(np.ptp(y) > 0)
        else:
            y = np.log(y) if self.family_ == "log_normal" else y
            self._set_moments(y, given)
        if not self.std_ > 0:
            self.mean_ = float(y[0])
        self._fit_standardised(X, y, given, allowance)
        return self

    def predict(self, X: pd.DataFrame | Columns) -> Vector:
        """Return the expected value of each row, always finite."""
        if self.family_ != "log_normal" or not self.std_ > 0:
            value = super().predict(X)
            return np.asarray(np.exp(value) if self.family_ == "log_normal" else value)
        with quietly(self.n_threads):
            scores = self.model_.scores(self.head_.transform(X))
        spread = np.minimum(self.std_ * np.exp(np.minimum(scores[:, 1], 10.0)), 30.0)
        width = self.high_ - self.low_
        value = np.exp(np.clip(self.mean_ + self.std_ * scores[:, 0] + np.square(spread) / 2, -300.0, 300.0))
        return np.asarray(np.clip(value, self.low_ - width, self.high_ + width))

    def predict_quantiles(self, X: pd.DataFrame | Columns, levels: Sequence[float]) -> Floats:
        """Return rows × levels: the values that a row stays below with these probabilities."""
        if not self.std_ > 0:
            return np.full((len(X), len(levels)), self.low_)
        with quietly(self.n_threads):
            Z = self.head_.transform(X)
            found = [self.model_.quantile(Z, level) * self.std_ + self.mean_ for level in levels]
        values = np.column_stack(found)
        values = np.exp(np.clip(values, -300.0, 300.0)) if self.family_ == "log_normal" else values
        return np.asarray(np.nan_to_num(values, nan=self.low_))


def _make_regressor(kind: type, state: State) -> DistributionRegressor:
    """Return a regressor of a file whose family is known."""
    if state["family_"] not in FAMILIES:
        raise ValueError("a distribution is of no known family")
    item: DistributionRegressor = filled(kind, state)
    return item


def _make_distribution(kind: type, state: State) -> AdditiveModel:
    """Return a model of a file with two scores and a family that is known."""
    if state["family_"] not in FAMILIES or state["intercept_"].shape != (2,):
        raise ValueError("a distribution has other parameters than it says")
    return make_model(kind, state)


ALGORITHM = Algorithm(
    "distribution",
    space,
    build,
    modules=("sklearn.preprocessing", "scipy.stats"),
    saves=(
        *SAVED,
        ESTIMATOR(
            "DistributionRegressor",
            "metaml.algorithms.componentwise.distribution:DistributionRegressor",
            make=_make_regressor,
        ),
        TrustedClass(
            "distribution",
            "metaml.algorithms.componentwise.distribution:DistributionModel",
            make=_make_distribution,
        ),
    ),
    stacks=False,
    is_searched=False,
    tasks=("regression",),
)
