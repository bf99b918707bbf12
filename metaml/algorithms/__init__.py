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
    "random_forest": Algorithm("random_forest", random_forest.space, random_forest.build),
    "extra_trees": Algorithm("extra_trees", extra_trees.space, extra_trees.build),
    "gradient_boosting": Algorithm("gradient_boosting", gradient_boosting.space, gradient_boosting.build),
    "xgboost": Algorithm("xgboost", xgboost.space, xgboost.build, library="xgboost"),
    "lightgbm": Algorithm("lightgbm", lightgbm.space, lightgbm.build, library="lightgbm"),
    "svm": Algorithm("svm", svm.space, svm.build),
    "k_neighbors": Algorithm("k_neighbors", k_neighbors.space, k_neighbors.build),
    "elastic_net": Algorithm("elastic_net", elastic_net.space, elastic_net.build),
    "decision_tree": Algorithm("decision_tree", decision_tree.space, decision_tree.build),
    "adaboost": Algorithm("adaboost", adaboost.space, adaboost.build),
    "mlp": Algorithm("mlp", mlp.space, mlp.build),
}
"""Every algorithm by name; `catboost` is among them where it is installed."""

EXTRAS = ("catboost",)
"""Algorithms that are there only with the extra of their name."""

if find_spec("catboost") is not None:
    ALGORITHMS["catboost"] = Algorithm("catboost", catboost.space, catboost.build, library="catboost")


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
