"""GBQR: gradient-boosted quantile regression as an upper bound (van Hoof 2018, section 5.3)."""

from collections.abc import Mapping
from typing import Self

import numpy as np

from metaml.arrays import Floats
from metaml.surrogates.base import NORMAL_QUANTILE_90, Prediction
from metaml.surrogates.boosting import Setting, boost, booster_prediction


class QuantileBoosting:
    """A LightGBM model of an upper quantile of the score; the defaults are the thesis' own.

    The excess is how far the upper bound is above the known scores on average. The mean is the upper bound minus the
    excess; the standard deviation is the excess divided by the normal quantile. With `n_members` above 1, models that
    differ by seed are averaged. With `refresh` above 0, it refits at every row up to that many; then it may lag by 1
    row, by 2 rows after twice as many, and so on. So the work per row does not grow with the number of rows.
    """

    def __init__(
        self,
        *,
        quantile: float = 0.9,
        n_leaves: int = 8,
        n_trees: int = 100,
        learning_rate: float = 0.1,
        n_members: int = 1,
        settings: Mapping[str, Setting] | None = None,
        refresh: int = 0,
        seed: int = 0,
    ) -> None:
        self.quantile = quantile
        self.n_leaves = n_leaves
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.n_members = n_members
        self.settings = dict(settings or {})
        self.refresh = refresh
        self.seed = seed
        self._learnt: bytes | None = None

    def scaled(self, y: Floats) -> Floats:
        """Return the scores as they are."""
        return y

    def fit(self, X: Floats, y: Floats) -> Self:
        """Learn from rows and scores."""
        if self.refresh:
            n = len(y) - len(y) % (1 + len(y) // self.refresh)
            X, y = X[:n], y[:n]
            content = X.tobytes() + y.tobytes()
            if content == self._learnt:
                return self
            self._learnt = content
        self.constant_ = float(y[0]) if np.ptp(y) == 0 else None
        if self.constant_ is not None:
            return self
        settings: dict[str, Setting] = {
            "objective": "quantile",
            "alpha": self.quantile,
            "num_leaves": self.n_leaves,
            "learning_rate": self.learning_rate,
            **self.settings,
        }
        # LightGBM uses single precision, which is too coarse for the differences between scores of one data set.
        self.low_, self.span_ = float(y.min()), float(np.ptp(y))
        unit = (y - self.low_) / self.span_
        self.boosters_ = [
            boost(X, unit, settings, n_trees=self.n_trees, seed=self.seed + member) for member in range(self.n_members)
        ]
        self.excess_ = max(float(np.mean(self._upper(X) - y)), 1e-3 * self.span_)
        return self

    def predict(self, X: Floats) -> Prediction:
        """Return the upper bound, and a mean and deviation derived from it."""
        if self.constant_ is not None:
            level = np.full(len(X), self.constant_)
            return Prediction(mean=level, std=np.full(len(X), 1e-9), upper=level)
        upper = self._upper(X)
        std = np.full(len(X), self.excess_ / NORMAL_QUANTILE_90)
        return Prediction(mean=upper - self.excess_, std=std, upper=upper)

    def _upper(self, X: Floats) -> Floats:
        total = np.sum([booster_prediction(booster, X) for booster in self.boosters_], axis=0)
        return np.asarray(self.low_ + self.span_ * total / len(self.boosters_), dtype=np.float64)
