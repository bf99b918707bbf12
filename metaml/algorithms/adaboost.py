"""AdaBoost over small decision trees: SAMME for classes, AdaBoost.R2 for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.allowance import Allowance, Rounds
from metaml.algorithms.base import Algorithm, Matrix, Vector
from metaml.algorithms.flat_trees import MOST_ROWS, of_forest
from metaml.algorithms.preprocessing import encoding_parameters, head_from, imputation_parameter
from metaml.algorithms.trusted_classes import DECISION_TREES, TrustedClass
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task

_DEFAULTS: dict[str, tuple[int, float]] = {"binary": (3, 0.1), "multiclass": (6, 0.1), "regression": (10, 0.5)}
"""Depth and learning rate that did well: a tree must be able to tell all classes apart."""


@cache
def space(task: Task) -> Space:
    """Return the space of AdaBoost; ranges follow van Hoof (2018), table 6.2."""
    if task == "regression":
        own: Parameter = Choice("loss", ("linear", "square", "exponential"), default="linear")
    else:
        own = Choice("class_weight", (None, "balanced"), default=None)
    depth, rate = _DEFAULTS[task]
    return Space(
        [
            Integer("n_estimators", 10, 500, default=200, log=True),
            Float("learning_rate", 0.01, 2.0, default=rate, log=True),
            Integer("max_depth", 1, 10, default=depth),
            Integer("min_samples_leaf", 1, 20, default=1, log=True),
            Float("max_features", 0.0, 1.0, default=0.75),
            own,
            imputation_parameter(),
            *encoding_parameters("one_hot"),
        ]
    )


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted AdaBoost for `config`; `max_features` is a power of the number of columns."""
    from metaml.algorithms.tabular import tabular

    space(task).check(config)
    head = head_from(config, seed=seed)
    model = _AdaBoost(config, seed=seed)
    return tabular(task, config, head, model, train=_AdaBoost.fit, seed=seed, n_threads=n_threads, seconds=seconds)


class _AdaBoost:
    """scikit-learn's AdaBoost, or one tree where it refuses because the first is no better than chance.

    For a few rows, scikit-learn's overhead takes a hundred times as long as the trees. The result is the same.
    """

    def __init__(self, config: Config, *, seed: int) -> None:
        self.config: dict[str, Any] = config
        self.seed = seed

    def fit(self, Z: Matrix, y: Vector, weight: Vector | None, allowance: Allowance) -> None:
        """Learn from rows and their target, tree by tree while there is time."""
        from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        settings: dict[str, Any] = {
            "n_estimators": self.config["n_estimators"],
            "learning_rate": self.config["learning_rate"],
            "random_state": self.seed,
        }
        tree_settings = {
            "max_depth": self.config["max_depth"],
            "min_samples_leaf": self.config["min_samples_leaf"],
            "max_features": max(1, round(Z.shape[1] ** float(self.config["max_features"]))),
            "random_state": self.seed,
        }
        if "loss" in self.config:
            tree: Any = DecisionTreeRegressor(**tree_settings)
            self.model_: Any = AdaBoostRegressor(tree, loss=self.config["loss"], **settings)
        else:
            tree = DecisionTreeClassifier(**tree_settings)
            self.model_ = AdaBoostClassifier(tree, **settings)
        try:
            with _stopped_in_time(self.model_, allowance):
                self.model_.fit(Z, y, sample_weight=weight)
        except ValueError as error:
            if "worse than random" not in str(error):
                raise
            self.model_ = tree.fit(Z, y, sample_weight=weight)

    def predict(self, Z: Matrix) -> Vector:
        if not hasattr(self.model_, "estimators_"):
            result: Vector = self.model_.predict(Z)
            return result
        values = np.stack([output[:, 0] for output in self._outputs(Z)], axis=1)
        order = np.argsort(values, axis=1)
        weights = np.cumsum(self.model_.estimator_weights_[order], axis=1)
        middle = (weights >= 0.5 * weights[:, -1:]).argmax(axis=1)
        rows = np.arange(len(values))
        median: Vector = values[rows, order[rows, middle]]
        return median

    def predict_proba(self, Z: Matrix) -> Matrix:
        if not hasattr(self.model_, "estimators_"):
            result: Matrix = self.model_.predict_proba(Z)
            return result
        n_classes, weights = self.model_.n_classes_, self.model_.estimator_weights_
        codes = np.arange(n_classes)
        votes = np.zeros((len(Z), n_classes))
        for output, weight in zip(self._outputs(Z), weights, strict=False):
            voted = output[:, :n_classes].argmax(axis=1)[:, np.newaxis] == codes
            votes += np.where(voted, weight, -1 / (n_classes - 1) * weight)
        votes /= weights.sum()
        if n_classes > 2:
            return shares_of_votes(votes, len(self.model_.estimators_))
        decision = votes[:, 1] - votes[:, 0]
        chances: Matrix = self.model_._compute_proba_from_decision(decision, n_classes)
        return chances

    def _outputs(self, Z: Matrix) -> Iterator[Matrix]:
        """Yield what each tree says; called directly, since scikit-learn checks the rows again for each tree."""
        rows = np.ascontiguousarray(Z, dtype=np.float32)
        trees = [tree.tree_ for tree in self.model_.estimators_]
        flat = of_forest(self, trees) if len(rows) <= MOST_ROWS else None
        if flat is not None and all(tree.n_features == rows.shape[1] for tree in trees):
            yield from np.stack([flat.ends(row) for row in rows], axis=1)
            return
        for tree in trees:
            yield tree.predict(rows)


@contextmanager
def _stopped_in_time(model: Any, allowance: Allowance) -> Iterator[None]:
    """End the training of a model when there is no time for another tree."""
    rounds, boost = Rounds(allowance), model._boost

    def boost_in_time(number: int, *arguments: Any, **named: Any) -> Any:
        if number == 0 or rounds.may_go_on():
            return boost(number, *arguments, **named)
        return None, None, None  # scikit-learn's sign that boosting is over

    model._boost = boost_in_time
    try:
        yield
    finally:
        del model._boost


def shares_of_votes(decisions: Matrix, n_voters: int) -> Matrix:
    """Return each class's share of the weighted votes, after one more vote for every class.

    scikit-learn's decision averages +1 for a vote and -1/(k-1) for a vote elsewhere. Its own probabilities
    squeeze this towards 1/k: little for two classes, almost to nothing for ten.

    >>> import numpy as np
    >>> shares_of_votes(np.array([[1.0, -0.5, -0.5]]), n_voters=7).tolist()
    [[0.8, 0.1, 0.1]]
    """
    k = decisions.shape[1]
    shares = (decisions * (k - 1) + 1) / k
    smoothed: Matrix = (shares * n_voters + 1) / (n_voters + k)
    return smoothed


ALGORITHM = Algorithm(
    "adaboost",
    space,
    build,
    modules=("sklearn.ensemble", "sklearn.tree"),
    row_power=1.15,
    trees="n_estimators",
    saves=(
        *DECISION_TREES,
        TrustedClass("adaboost", "metaml.algorithms.adaboost:_AdaBoost"),
        TrustedClass("AdaBoostClassifier", "sklearn.ensemble:AdaBoostClassifier"),
        TrustedClass("AdaBoostRegressor", "sklearn.ensemble:AdaBoostRegressor"),
    ),
    stacks=False,
)
