"""Models of the scores of one data set, given configurations as rows of numbers."""

from collections.abc import Callable

from metaml.surrogates.base import Prediction, Surrogate
from metaml.surrogates.constant import Constant
from metaml.surrogates.extra_trees import ExtraTrees
from metaml.surrogates.forest import Forest
from metaml.surrogates.gaussian_process import GaussianProcess
from metaml.surrogates.mean_boosting import MeanBoosting
from metaml.surrogates.quantile_boosting import QuantileBoosting

SURROGATES: dict[str, Callable[[int], Surrogate]] = {
    "gbqr": lambda seed: QuantileBoosting(seed=seed),
    "gbqr_refreshed": lambda seed: QuantileBoosting(seed=seed, refresh=100),
    "forest": lambda seed: Forest(seed=seed),
    "gaussian_process": lambda seed: GaussianProcess(),  # noqa: ARG005 - nothing in it is random
    "extra_trees": lambda seed: ExtraTrees(seed=seed),
    "mean_boosting": lambda seed: MeanBoosting(seed=seed),
    "constant": lambda seed: Constant(),  # noqa: ARG005
}
"""Each makes a surrogate from a seed."""

__all__ = ["SURROGATES", "Prediction", "Surrogate"]
