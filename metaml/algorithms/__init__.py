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
from metaml.algorithms.componentwise import additive, distribution, ebm
from metaml.algorithms.neural import neural_network
from metaml.errors import BadRequest

__all__ = ["ALGORITHMS", "KNOWN", "READABLE", "SEARCHED", "Algorithm", "check_known", "searched"]

KNOWN: tuple[Algorithm, ...] = (
    random_forest.ALGORITHM,
    extra_trees.ALGORITHM,
    gradient_boosting.ALGORITHM,
    xgboost.ALGORITHM,
    lightgbm.ALGORITHM,
    svm.ALGORITHM,
    k_neighbors.ALGORITHM,
    elastic_net.ALGORITHM,
    decision_tree.ALGORITHM,
    decision_tree.SMALL,
    adaboost.ALGORITHM,
    mlp.ALGORITHM,
    catboost.ALGORITHM,
    additive.ALGORITHM,
    distribution.ALGORITHM,
    ebm.ALGORITHM,
    neural_network.ALGORITHM,
)
"""Every algorithm, also those whose library is not installed here."""


def _is_installed(algorithm: Algorithm) -> bool:
    return all(find_spec(module.partition(".")[0]) is not None for module in algorithm.modules)


ALGORITHMS: dict[str, Algorithm] = {found.name: found for found in KNOWN if not found.is_extra or _is_installed(found)}
"""Every algorithm by name; one whose library is an extra is among them where that is installed."""


def searched(seconds: float | None = None) -> tuple[str, ...]:
    """Return what a search of so many seconds tries unless it is told otherwise; None if it counts evaluations.

    >>> set(searched(600.0)) - set(searched(10.0))
    {'neural_network'}
    """
    return tuple(
        name
        for name, found in ALGORITHMS.items()
        if found.least_budget is not None and found.least_budget <= (seconds or 0.0)
    )


SEARCHED = searched()
"""What a bot, or a search of any length, tries unless it is told otherwise."""

READABLE: tuple[str, ...] = tuple(name for name, found in ALGORITHMS.items() if found.is_readable)
"""Those whose models a person can read."""


def check_known(names: Iterable[str]) -> None:
    """Raise BadRequest for an algorithm that does not exist, or whose library is not installed.

    >>> check_known(["svm"])
    """
    unknown = [name for name in names if name not in ALGORITHMS]
    for found in KNOWN:
        if found.name in unknown:
            raise BadRequest(f"The library of {found.name} is not installed. Run: pip install 'metaml[{found.name}]'")
    if unknown:
        raise BadRequest(f"There is no algorithm {', '.join(unknown)}. Choose among: {', '.join(ALGORITHMS)}.")
