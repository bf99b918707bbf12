"""Gradient boosting of the mean score: GBQR with the mean in place of a quantile."""

from typing import Self

import numpy as np

from metaml.arrays import Floats
from metaml.surrogates.base import Prediction, normal_prediction
from metaml.surrogates.boosting import Setting, boost, booster_prediction


class MeanBoosting:
    """A LightGBM model of the mean; the standard deviation is that of its residuals."""

    def __init__(self, *, n_leaves: int = 8, n_trees: int = 100, learning_rate: float = 0.1, seed: int = 0) -> None:
        self.n_leaves = n_leaves
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.seed = seed

    def scaled(self, y: Floats) -> Floats:
        """Return the scores as they are."""
        return y

    def fit(self, X: Floats, y: Floats) -> Self:
        """Learn from rows and scores."""
        self.low_, self.span_ = float(y.min()), float(np.ptp(y))
        self.booster_ = None
        self.std_ = 1e-9
        if self.span_ > 0:
            settings: dict[str, Setting] = {
                "objective": "regression",
                "num_leaves": self.n_leaves,
                "learning_rate": self.learning_rate,
            }
            unit = (y - self.low_) / self.span_
            self.booster_ = boost(X, unit, settings, n_trees=self.n_trees, seed=self.seed)
            self.std_ = max(self.span_ * float(np.std(booster_prediction(self.booster_, X) - unit)), 1e-3 * self.span_)
        return self

    def predict(self, X: Floats) -> Prediction:
        """Return the boosted mean, equally uncertain everywhere."""
        mean = np.full(len(X), self.low_)
        if self.booster_ is not None:
            mean = self.low_ + self.span_ * booster_prediction(self.booster_, X)
        return normal_prediction(mean, np.full(len(X), self.std_))
