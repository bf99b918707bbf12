"""Nearest neighbours on scaled columns."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

from metaml.algorithms.base import Algorithm, Matrix, PlainLearner, Vector, picked
from metaml.algorithms.preprocessing import (
    encoding_parameters,
    head_from,
    imputation_parameter,
    scaling_parameter,
)
from metaml.algorithms.trusted_classes import State, TrustedClass, filled
from metaml.spaces import Choice, Integer, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


@cache
def space(task: Task) -> Space:  # noqa: ARG001
    """Return the space of nearest neighbours; the random bot stops at 30, but large data sets need more."""
    return Space(
        [
            Integer("n_neighbors", 1, 100, default=15, log=True),
            Choice("weights", ("uniform", "distance"), default="distance"),
            Choice("metric", ("euclidean", "manhattan", "cosine"), default="euclidean"),
            imputation_parameter(),
            scaling_parameter("robust"),
            *encoding_parameters("one_hot"),
        ]
    )


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return unfitted nearest neighbours for `config`."""
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    from metaml.algorithms.tabular import TabularClassifier, TabularRegressor

    space(task).check(config)
    values: dict[str, Any] = config
    settings = {"weights": config["weights"], "metric": config["metric"], "n_jobs": n_threads}
    settle = partial(affordable_neighbors, wanted=values["n_neighbors"])
    head = head_from(config, seed=seed)
    common: dict[str, Any] = {"settle": settle, "seed": seed, "n_threads": n_threads, "seconds": seconds}
    if task == "regression":
        return TabularRegressor(head, KNeighborsRegressor(**settings), **common)
    return TabularClassifier(head, KNeighborsClassifier(**settings), **common)


def affordable_neighbors(Z: Matrix, y: Vector, total: float, *, wanted: int) -> dict[str, Any]:  # noqa: ARG001
    """Return the number of neighbours, which cannot exceed the number of training rows."""
    return {"n_neighbors": min(wanted, len(Z))}


def _make_neighbors(kind: type, state: State) -> Any:
    """Return nearest neighbours with their search tree built anew: the same rows always give the same tree."""
    from sklearn.neighbors import BallTree, KDTree

    item = filled(kind, state)
    trees = {"kd_tree": KDTree, "ball_tree": BallTree}
    if state["_fit_method"] in trees:
        settings = state["effective_metric_params_"]
        item._tree = trees[state["_fit_method"]](
            state["_fit_X"], state["leaf_size"], metric=state["effective_metric_"], **settings
        )
    return item


def plain(config: Config, task: Task, n_columns: int) -> PlainLearner:  # noqa: ARG001
    """Return scikit-learn's nearest neighbours."""
    kind = "KNeighborsRegressor" if task == "regression" else "KNeighborsClassifier"
    return PlainLearner("sklearn.neighbors", kind, picked(config, "n_neighbors", "weights", "metric"))


_NEIGHBORS = partial(TrustedClass, forget=("_tree",), make=_make_neighbors)

ALGORITHM = Algorithm(
    "k_neighbors",
    space,
    build,
    modules=("sklearn.neighbors",),
    row_power=1.8,
    takes_weights=False,
    saves=(
        _NEIGHBORS("KNeighborsClassifier", "sklearn.neighbors:KNeighborsClassifier"),
        _NEIGHBORS("KNeighborsRegressor", "sklearn.neighbors:KNeighborsRegressor"),
    ),
    stacks=False,
    plain=plain,
)
