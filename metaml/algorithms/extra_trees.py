"""Extremely randomised trees (Geurts et al. 2006)."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from metaml.algorithms.base import Algorithm
from metaml.algorithms.forests import build_forest, forest_space, plain_forest
from metaml.algorithms.trusted_classes import FOREST, TREE, TrustedClass
from metaml.spaces import Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


@cache
def space(task: Task) -> Space:
    """Return the space of extra trees for one task."""
    return forest_space(task, bootstrap=False, max_features=0.75 if task == "regression" else 0.5)


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted forest for `config`."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    space(task).check(config)
    return build_forest(
        config,
        classifier=ExtraTreesClassifier,
        regressor=ExtraTreesRegressor,
        task=task,
        seed=seed,
        n_threads=n_threads,
        seconds=seconds,
    )


ALGORITHM = Algorithm(
    "extra_trees",
    space,
    build,
    modules=("sklearn.ensemble",),
    first_turn=5,
    first_turn_if_wide=1,
    first_turn_if_slow=1,
    row_power=1.15,
    one_way={},
    trees="n_estimators",
    saves=(
        TREE,
        FOREST,
        TrustedClass("ExtraTreeClassifier", "sklearn.tree:ExtraTreeClassifier"),
        TrustedClass("ExtraTreeRegressor", "sklearn.tree:ExtraTreeRegressor"),
        TrustedClass("ExtraTreesClassifier", "sklearn.ensemble:ExtraTreesClassifier"),
        TrustedClass("ExtraTreesRegressor", "sklearn.ensemble:ExtraTreesRegressor"),
    ),
    plain=partial(plain_forest, "ExtraTrees"),
)
