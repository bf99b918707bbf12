"""A single decision tree, pruned by cost complexity: weak and fast; a small one can be read."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.base import Algorithm, PlainLearner, picked
from metaml.algorithms.fewer_steps import fit_on_growing_rows
from metaml.algorithms.preprocessing import encoding_parameters, head_from
from metaml.algorithms.trusted_classes import DECISION_TREES
from metaml.arrays import Flags
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


@cache
def space(task: Task) -> Space:
    """Return the space of a tree; ranges follow the random bot's rpart and van Hoof (2018), table 6.2."""
    parameters: list[Parameter] = []
    if task != "regression":
        parameters += [
            Choice("criterion", ("gini", "entropy"), default="gini"),
            Choice("class_weight", (None, "balanced"), default=None),
        ]
    return Space(
        [
            *parameters,
            Integer("max_depth", 1, 30, default=10),
            Integer("min_samples_leaf", 1, 60, default=10, log=True),
            Integer("min_samples_split", 2, 60, default=10, log=True),
            Float("ccp_alpha", 1e-6, 0.1, default=1e-3, log=True),
            *encoding_parameters("one_hot"),
        ]
    )


@cache
def small_space(task: Task) -> Space:
    """Return the space of a tree that fits on a page: at most four questions lead to an answer."""
    parameters: list[Parameter] = [
        Integer("max_depth", 1, 4, default=3),
        Integer("min_samples_leaf", 1, 60, default=10, log=True),
        Float("ccp_alpha", 1e-6, 0.1, default=1e-3, log=True),
        *encoding_parameters("one_hot"),
    ]
    if task != "regression":
        parameters.append(Choice("class_weight", (None, "balanced"), default=None))
    return Space(parameters)


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted tree for `config`; missing numbers are left to the tree."""
    space(task).check(config)
    return _built(config, task, seed, n_threads, seconds)


def build_small(
    config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None
) -> BaseEstimator:
    """Return an unfitted small tree for `config`."""
    small_space(task).check(config)
    return _built(config, task, seed, n_threads, seconds)


def _built(config: Config, task: Task, seed: int, n_threads: int, seconds: float | None) -> BaseEstimator:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from metaml.algorithms.tabular import TabularClassifier, TabularRegressor

    names = ("criterion", "max_depth", "min_samples_leaf", "min_samples_split", "ccp_alpha")
    settings = {name: config[name] for name in names if name in config}
    head = head_from(config, seed=seed)
    common: dict[str, Any] = {"train": fit_on_growing_rows, "seed": seed, "n_threads": n_threads, "seconds": seconds}
    if task == "regression":
        return TabularRegressor(head, DecisionTreeRegressor(**settings, random_state=seed), **common)
    model = DecisionTreeClassifier(**settings, random_state=seed)
    return TabularClassifier(head, model, class_weight=config["class_weight"], **common)


def reads(model: Any) -> Flags:
    """Return the columns that the tree asks about."""
    asked: Flags = np.isin(np.arange(model.tree_.n_features), model.tree_.feature)
    return asked


def plain(config: Config, task: Task, n_columns: int) -> PlainLearner:  # noqa: ARG001
    """Return scikit-learn's tree."""
    names = ("criterion", "class_weight", "max_depth", "min_samples_leaf", "min_samples_split", "ccp_alpha")
    kind = "DecisionTreeRegressor" if task == "regression" else "DecisionTreeClassifier"
    power = 1 if config.get("criterion") == "absolute_error" else 2
    powers = {"ccp_alpha": power} if task == "regression" else {}
    return PlainLearner("sklearn.tree", kind, picked(config, *names), target_powers=powers)


ALGORITHM = Algorithm(
    "decision_tree",
    space,
    build,
    modules=("sklearn.tree",),
    one_way={},
    saves=DECISION_TREES,
    stacks=False,
    plain=plain,
    reads=reads,
)
SMALL = Algorithm(
    "small_tree",
    small_space,
    build_small,
    modules=("sklearn.tree",),
    saves=DECISION_TREES,
    stacks=False,
    plain=plain,
    least_budget=None,
    is_readable=True,
    reads=reads,
)
