"""The surrogate that predicts the same for every row. With ties broken at random, it is random search."""

from typing import Self

import numpy as np

from metaml.arrays import Floats
from metaml.surrogates.base import Prediction, normal_prediction


class Constant:
    """The mean and standard deviation of the scores, whatever the row."""

    def scaled(self, y: Floats) -> Floats:
        """Return the scores as they are."""
        return y

    def fit(self, X: Floats, y: Floats) -> Self:  # noqa: ARG002 - one signature for all
        """Learn the scores' mean and spread."""
        self.mean_, self.std_ = float(y.mean()), max(float(y.std()), 1e-9)
        return self

    def predict(self, X: Floats) -> Prediction:
        """Return the same for each row."""
        return normal_prediction(np.full(len(X), self.mean_), np.full(len(X), self.std_))
