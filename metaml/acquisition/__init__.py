"""What a candidate is worth, given what a surrogate believes, and where candidates come from."""

from collections.abc import Callable
from functools import partial

from metaml.acquisition.expected_improvement import expected_improvement, log_expected_improvement
from metaml.acquisition.per_second import (
    bound_per_log_second,
    bound_per_relative_cost,
    improvement_per_log_second,
    improvement_per_second,
)
from metaml.acquisition.upper_bound import upper_bound
from metaml.arrays import Floats
from metaml.surrogates.base import Prediction

Acquisition = Callable[[Prediction, float], Floats]
CostAcquisition = Callable[[Prediction, float, Floats], Floats]

ACQUISITIONS: dict[str, Acquisition] = {
    "upper_bound": upper_bound,
    "expected_improvement": expected_improvement,
    "expected_improvement_xi": partial(expected_improvement, xi=0.01),
    "log_expected_improvement": log_expected_improvement,
}

COST_ACQUISITIONS: dict[str, CostAcquisition] = {
    "improvement_per_second": improvement_per_second,
    "improvement_per_log_second": improvement_per_log_second,
    "bound_per_log_second": bound_per_log_second,
    "bound_per_relative_cost": bound_per_relative_cost,
}

__all__ = ["ACQUISITIONS", "COST_ACQUISITIONS", "Acquisition", "CostAcquisition", "Prediction"]
