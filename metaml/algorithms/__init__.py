"""The algorithms metaml can run: one file each, registered here by name.

Listing them is cheap: a learning library is imported when an estimator is built, not before.
"""

from collections.abc import Iterable
from importlib.util import find_spec

from metaml.algorithms import (
    adaboost,
    catboost,
    decision_tree,
    elastic_net,
    extra_trees,
    gradient_boosting,
    k_neighbors,
    lightgbm,
    mlp,
    random_forest,
    svm,
    xgboost,
)
from metaml.algorithms.base import Algorithm
from metaml.errors import BadRequest

__all__ = ["ALGORITHMS", "Algorithm", "check_known"]

ALGORITHMS: dict[str, Algorithm] = {
    module.ALGORITHM.name: module.ALGORITHM
    for module in (
        random_forest,
        extra_trees,
        gradient_boosting,
        xgboost,
        lightgbm,
        svm,
        k_neighbors,
        elastic_net,
        decision_tree,
        adaboost,
        mlp,
    )
}
"""Every algorithm by name; `catboost` is among them where it is installed."""

EXTRAS = ("catboost",)
"""Algorithms that are there only with the extra of their name."""

if find_spec("catboost") is not None:
    ALGORITHMS["catboost"] = catboost.ALGORITHM


def check_known(names: Iterable[str]) -> None:
    """Raise BadRequest for an algorithm that does not exist, or whose library is not installed.

    >>> check_known(["svm"])
    """
    unknown = [name for name in names if name not in ALGORITHMS]
    for name in unknown:
        if name in EXTRAS:
            raise BadRequest(f"The library of {name} is not installed. Run: pip install 'metaml[{name}]'")
    if unknown:
        raise BadRequest(f"There is no algorithm {', '.join(unknown)}. Choose among: {', '.join(ALGORITHMS)}.")
