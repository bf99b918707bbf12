"""What random forests and extremely randomised trees share: their space and how they are built."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Matrix, PlainLearner, Vector, picked
from metaml.algorithms.flat_trees import MOST_ROWS, of_forest, sums
from metaml.algorithms.preprocessing import encoding_parameters, head_from
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


_FEWEST_TREES = 4  # whatever the time: one tree alone is no forest
_MOST_BYTES, _NODE_BYTES, _NUMBER_BYTES = 100_000_000, 64, 8
"""What the trees of a forest may take together, and what a node and each number in it take.

A larger forest would predict hardly better, but take seconds to send and to load.
"""


def forest_space(task: Task, *, bootstrap: bool, max_features: float) -> Space:
    """Return the space of a forest; ranges follow van Hoof (2018), table 6.2, and the random bot's ranger.

    `max_features` is a power: p ** max_features of p columns are tried at each split, so 0.5 is the usual
    square root and 1 means all of them.
    """
    parameters: list[Parameter] = [Integer("n_estimators", 10, 500, default=200, log=True)]
    if task != "regression":
        parameters += [
            Choice("criterion", ("gini", "entropy"), default="gini"),
            Choice("class_weight", (None, "balanced"), default=None),
        ]
    return Space(
        [
            *parameters,
            Float("max_features", 0.0, 1.0, default=max_features),
            Integer("min_samples_leaf", 1, 20, default=1 if task == "regression" else 2, log=True),
            Integer("min_samples_split", 2, 20, default=2, log=True),
            Choice("bootstrap", (True, False), default=bootstrap),
            Float("max_samples", 0.1, 1.0, default=1.0, when=("bootstrap", (True,))),
            *encoding_parameters("one_hot"),
        ]
    )


def build_forest(
    config: Config, *, classifier: Any, regressor: Any, task: Task, seed: int, n_threads: int, seconds: float | None
) -> BaseEstimator:
    """Return an estimator around one of scikit-learn's forests, which take missing values as they are."""
    from metaml.algorithms.tabular import tabular

    names = ("n_estimators", "criterion", "min_samples_leaf", "min_samples_split", "bootstrap")
    settings = {name: config[name] for name in names if name in config}
    kind = regressor if task == "regression" else classifier
    model = _Forest(kind(**settings, random_state=seed, n_jobs=n_threads))
    values: dict[str, Any] = config
    settle = partial(row_settings, max_features=values["max_features"], max_samples=values.get("max_samples"))
    head = head_from(config, seed=seed)
    return tabular(
        task, config, head, model, settle=settle, train=_Forest.fit, seed=seed, n_threads=n_threads, seconds=seconds
    )


def plain_forest(family: str, config: Config, task: Task, n_columns: int) -> PlainLearner:
    """Return one of scikit-learn's forests."""
    names = ("n_estimators", "criterion", "class_weight", "min_samples_leaf", "min_samples_split", "bootstrap")
    settings = picked(config, *names, "max_samples")
    if not settings.get("bootstrap") or settings.get("max_samples") == 1.0:
        settings.pop("max_samples", None)
    settings["max_features"] = max(1, round(n_columns ** float(str(config["max_features"]))))
    kind = "Regressor" if task == "regression" else "Classifier"
    return PlainLearner("sklearn.ensemble", family + kind, settings)


def row_settings(
    Z: Matrix,
    y: Vector,
    total: float,  # noqa: ARG001
    *,
    max_features: float,
    max_samples: float | None,
) -> dict[str, Any]:
    """Return columns per split and rows per tree as counts, at least one of each."""
    settings: dict[str, Any] = {"max_features": max(1, round(Z.shape[1] ** max_features))}
    if max_samples is not None:
        settings["max_samples"] = max(1, round(max_samples * len(y)))
    return settings


def _most_trees(n_nodes: int, n_numbers: int) -> int:
    """Return how many trees of so many nodes, with so many numbers each, a forest may have.

    >>> _most_trees(1000, 2) > 200, _most_trees(20_000, 18)
    (True, 24)
    """
    return _MOST_BYTES // (n_nodes * (_NODE_BYTES + _NUMBER_BYTES * n_numbers))


class _Forest:
    """One of scikit-learn's forests, whose trees are called directly.

    For a few rows, scikit-learn's overhead takes ten times as long as the trees. The result is bitwise the same.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def set_params(self, **settings: Any) -> None:
        self.model.set_params(**settings)

    def fit(self, Z: Matrix, y: Vector, weight: Vector | None, allowance: Allowance) -> None:
        """Grow all trees, or as many as there are time and memory for; these are the first of all."""
        n_wanted, at_once = self.model.n_estimators, self.model.n_jobs
        n_numbers = int(y.max()) + 1 if self._is_classifier else 1
        if not allowance.is_limited and n_wanted <= _most_trees(2 * len(y), n_numbers):
            self.model.fit(Z, y, sample_weight=weight)
            return
        n_done, n_more = 0, min(n_wanted, max(_FEWEST_TREES, at_once))
        while n_more > 0:
            begin = allowance.used
            self.model.set_params(n_estimators=n_done + n_more, warm_start=True)
            self.model.fit(Z, y, sample_weight=weight)
            n_done += n_more
            largest = max(tree.tree_.node_count for tree in self.model.estimators_)
            n_wanted = min(n_wanted, max(_most_trees(largest, n_numbers), n_done))
            n_in_time = allowance.left * n_more / max(allowance.used - begin, 1e-9)
            # Trees take different times, so half of what fits is grown before the next look at the clock.
            n_next = max(int(min(n_in_time / 2, n_wanted)), at_once)
            n_more = min(n_wanted - n_done, n_next) if n_in_time >= at_once else 0
        allowance.ended_training = n_done < n_wanted
        self.model.set_params(warm_start=False)

    @property
    def _is_classifier(self) -> bool:
        return hasattr(self.model, "predict_proba")

    def predict(self, Z: Matrix) -> Vector:
        return self._mean(Z, 1)[:, 0]

    def predict_proba(self, Z: Matrix) -> Matrix:
        return self._mean(Z, self.model.n_classes_)

    def _mean(self, Z: Matrix, n_columns: int) -> Matrix:
        rows = np.ascontiguousarray(Z, dtype=np.float32)
        # Compiled code reads the columns without a check; a file may hold a tree of other columns.
        if any(tree.tree_.n_features != rows.shape[1] for tree in self.model.estimators_):
            raise ValueError("a tree asks for columns that are not there")
        total = np.zeros((len(rows), n_columns))
        flat = of_forest(self, [tree.tree_ for tree in self.model.estimators_]) if len(rows) <= MOST_ROWS else None
        if flat is not None:
            for number, row in enumerate(rows):
                total[number] = sums(flat.ends(row)[:, :n_columns], total[number])
            return total / len(self.model.estimators_)
        for tree in self.model.estimators_:
            total += tree.tree_.predict(rows)[:, :n_columns]
        return total / len(self.model.estimators_)
