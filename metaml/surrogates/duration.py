"""How long a configuration will take: LightGBM on the logarithm of seconds (van Hoof 2018, section 5.2)."""

from typing import Self

import numpy as np

from metaml.arrays import Floats
from metaml.surrogates.boosting import Setting, boost, booster_prediction

SHORTEST = 1e-4
"""Shorter times cannot be measured, in seconds."""


class Duration:
    """A hundred trees of four leaves with a learning rate of 0.15 and an L1 penalty of 0.2, as in the thesis."""

    def __init__(
        self,
        *,
        n_trees: int = 100,
        n_leaves: int = 4,
        learning_rate: float = 0.15,
        penalty: float = 0.2,
        seed: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.n_leaves = n_leaves
        self.learning_rate = learning_rate
        self.penalty = penalty
        self.seed = seed

    def fit(self, X: Floats, seconds: Floats) -> Self:
        """Learn from rows and the seconds they took; a time-out counts as the limit."""
        y = np.log(np.maximum(seconds, SHORTEST))
        self.mean_ = float(y.mean())
        self.booster_ = None
        if np.ptp(y) > 0:
            settings: dict[str, Setting] = {
                "objective": "regression",
                "num_leaves": self.n_leaves,
                "learning_rate": self.learning_rate,
                "lambda_l1": self.penalty,
            }
            self.booster_ = boost(X, y, settings, n_trees=self.n_trees, seed=self.seed)
        return self

    def predict(self, X: Floats) -> Floats:
        """Return the expected seconds of each row."""
        if self.booster_ is None:
            return np.full(len(X), np.exp(self.mean_))
        return np.exp(booster_prediction(self.booster_, X))
