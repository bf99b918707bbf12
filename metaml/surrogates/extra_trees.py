"""Extremely randomised trees, as in the thesis' early experiments (van Hoof 2018, section 4.1.2)."""

from typing import Self

import numpy as np

from metaml.arrays import Floats
from metaml.surrogates.base import Prediction
from metaml.surrogates.forest import leaf_moments, mixture
from metaml.system.threads import importing


class ExtraTrees:
    """A hundred trees of at most 64 leaves; the standard deviation is their disagreement."""

    def __init__(self, *, n_trees: int = 100, max_leaves: int = 64, seed: int = 0) -> None:
        self.n_trees = n_trees
        self.max_leaves = max_leaves
        self.seed = seed

    def scaled(self, y: Floats) -> Floats:
        """Return the scores as they are."""
        return y

    def fit(self, X: Floats, y: Floats) -> Self:
        """Learn from rows and scores."""
        with importing:
            from sklearn.ensemble import ExtraTreesRegressor

        self.forest_ = ExtraTreesRegressor(
            n_estimators=self.n_trees, max_leaf_nodes=self.max_leaves, random_state=self.seed, n_jobs=1
        ).fit(X, y)
        return self

    def predict(self, X: Floats) -> Prediction:
        """Return the trees' mean and standard deviation."""
        means, _ = leaf_moments(self.forest_, X)
        return mixture(means, np.zeros_like(means))
