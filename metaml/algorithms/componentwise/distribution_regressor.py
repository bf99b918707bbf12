"""The estimators of a distribution: boosting of location and scale, and the regressor around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import pandas as pd

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Matrix, Training, Vector
from metaml.algorithms.categories import Columns
from metaml.algorithms.componentwise.additive import AdditiveModel
from metaml.algorithms.componentwise.families import FamilyName, family_for, family_named
from metaml.algorithms.componentwise.losses import Loss
from metaml.algorithms.tabular import TabularRegressor, quietly, rows_of_numbers
from metaml.arrays import Floats


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
