"""Models of the scores of one data set, given configurations as rows of numbers."""

from metaml.surrogates.base import Maker, Prediction, Surrogate
from metaml.surrogates.constant import Constant
from metaml.surrogates.extra_trees import ExtraTrees
from metaml.surrogates.forest import Forest
from metaml.surrogates.gaussian_process import GaussianProcess
from metaml.surrogates.mean_boosting import MeanBoosting
from metaml.surrogates.quantile_boosting import QuantileBoosting

SURROGATES: dict[str, Maker] = {
    "gbqr": Maker(lambda seed: QuantileBoosting(seed=seed), "upper_bound"),
    "gbqr_refreshed": Maker(lambda seed: QuantileBoosting(seed=seed, refresh=100)),
    "gaussian_process": Maker(
        lambda seed: GaussianProcess(),  # noqa: ARG005 - nothing in it is random
        "log_expected_improvement",
        is_noisy=True,
    ),
    "gaussian_process_all": Maker(lambda seed: GaussianProcess(max_rows=300)),  # noqa: ARG005
    "forest": Maker(lambda seed: Forest(seed=seed), "expected_improvement"),
    "forest_trees": Maker(lambda seed: Forest(leaf_level=False, seed=seed), "expected_improvement"),
    "extra_trees": Maker(lambda seed: ExtraTrees(seed=seed), "expected_improvement"),
    "mean_boosting": Maker(lambda seed: MeanBoosting(seed=seed), "upper_bound"),
    "constant": Maker(lambda seed: Constant()),  # noqa: ARG005
}
"""Every surrogate by name. One with an acquisition is a strategy that a user can choose."""

__all__ = ["SURROGATES", "Maker", "Prediction", "Surrogate"]
