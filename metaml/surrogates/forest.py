"""SMAC's random forest: a mean and a variance from trees and leaves (Hutter et al. 2014; van Hoof 2018,
section 3.2).
"""

from typing import Any, Self

import numpy as np

from metaml.arrays import Floats
from metaml.surrogates.base import Prediction, normal_prediction
from metaml.system.threads import importing


class Forest:
    """Ten trees that look at 5/6 of the columns at each split; the defaults are those of the thesis.

    `leaf_level` adds the variance within a leaf, at least `variance_floor`, to the variance between trees
    (eq. 3.1 and 3.2); without it only the trees' disagreement counts.
    """

    def __init__(
        self,
        *,
        n_trees: int = 10,
        split_ratio: float = 5 / 6,
        min_samples_split: int = 10,
        leaf_level: bool = True,
        variance_floor: float = 0.01,
        seed: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.split_ratio = split_ratio
        self.min_samples_split = min_samples_split
        self.leaf_level = leaf_level
        self.variance_floor = variance_floor
        self.seed = seed

    def scaled(self, y: Floats) -> Floats:
        """Return the scores as they are."""
        return y

    def fit(self, X: Floats, y: Floats) -> Self:
        """Learn from rows and scores."""
        with importing:
            from sklearn.ensemble import RandomForestRegressor

        self.forest_ = RandomForestRegressor(
            n_estimators=self.n_trees,
            max_features=max(1, int(np.ceil(self.split_ratio * X.shape[1]))),
            min_samples_split=self.min_samples_split,
            random_state=self.seed,
            n_jobs=1,
        ).fit(X, y)
        return self

    def predict(self, X: Floats) -> Prediction:
        """Return the mixture's mean and standard deviation."""
        means, variances = leaf_moments(self.forest_, X)
        inside = np.maximum(variances, self.variance_floor) if self.leaf_level else np.zeros_like(means)
        return mixture(means, inside)


def leaf_moments(forest: Any, X: Floats) -> tuple[Floats, Floats]:
    """Return each tree's mean and variance in the leaf of each row: two matrices of trees by rows.

    A squared-error tree's impurity in a leaf is the variance of the scores that fell there.
    """
    leaves = forest.apply(X)
    trees = [tree.tree_ for tree in forest.estimators_]
    means = np.stack([tree.value[leaves[:, k], 0, 0] for k, tree in enumerate(trees)])
    variances = np.stack([tree.impurity[leaves[:, k]] for k, tree in enumerate(trees)])
    return means, variances


def mixture(means: Floats, variances: Floats) -> Prediction:
    """Return the moments of equally likely members, rows of two matrices (van Hoof 2018, eq. 3.1 and 3.2).

    >>> mixture(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]])).std.round(4).tolist()
    [1.7321]
    """
    mean = means.mean(axis=0)
    variance = variances.mean(axis=0) + means.var(axis=0)
    return normal_prediction(mean, np.sqrt(np.maximum(variance, 1e-18)))
