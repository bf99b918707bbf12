"""Random forests (Breiman 2001)."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from metaml.algorithms.base import Algorithm
from metaml.algorithms.forests import build_forest, forest_space, plain_forest
from metaml.algorithms.trusted_classes import DECISION_TREES, FOREST, TrustedClass
from metaml.spaces import Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


@cache
def space(task: Task) -> Space:
    """Return the space of random forest for one task."""
    return forest_space(task, bootstrap=True, max_features=0.75 if task == "regression" else 0.5)


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted forest for `config`."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    space(task).check(config)
    return build_forest(
        config,
        classifier=RandomForestClassifier,
        regressor=RandomForestRegressor,
        task=task,
        seed=seed,
        n_threads=n_threads,
        seconds=seconds,
    )


ALGORITHM = Algorithm(
    "random_forest",
    space,
    build,
    modules=("sklearn.ensemble",),
    first_turn=3,
    first_turn_if_wide=3,
    first_turn_if_slow=4,
    row_power=1.15,
    one_way={},
    trees="n_estimators",
    saves=(
        *DECISION_TREES,
        FOREST,
        TrustedClass("RandomForestClassifier", "sklearn.ensemble:RandomForestClassifier"),
        TrustedClass("RandomForestRegressor", "sklearn.ensemble:RandomForestRegressor"),
    ),
    plain=partial(plain_forest, "RandomForest"),
)
