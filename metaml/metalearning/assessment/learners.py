"""Every meta-learner by name: each ranks the configurations of an algorithm for a data set it has not seen."""

from collections.abc import Callable
from functools import partial
from typing import Protocol, Self

from metaml.arrays import Floats
from metaml.metalearning.assessment.nearest_learner import NearestLearner
from metaml.metalearning.assessment.neighbours import Neighbours
from metaml.metalearning.history import RunHistory
from metaml.metalearning.meta_learner import RECIPES, Metafeatures, MetaLearner


class Learner(Protocol):
    """Learns from the runs of many data sets, and ranks configurations on another one."""

    def fit(self, history: RunHistory) -> Self:
        """Learn from the runs of many data sets."""
        ...

    def predict_rows(self, rows: Floats, metafeatures: Metafeatures) -> Floats:
        """Return a score for each encoded configuration on a data set; only the order counts."""
        ...


def _of_recipe(name: str, seed: int) -> Learner:
    return MetaLearner(name, seed=seed)


LEARNERS: dict[str, Callable[[int], Learner]] = {
    **{name: partial(_of_recipe, name) for name in RECIPES},
    "neighbours": lambda seed: Neighbours(),  # noqa: ARG005 - nothing in it is random
    "nearest_lightgbm": lambda seed: NearestLearner(seed=seed),
}
"""Makes a meta-learner from a seed. A search uses `default` or `compact`; the others are for `metaml learn --evaluate`
and `metaml replay`."""
