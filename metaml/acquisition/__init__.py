"""What a candidate is worth, given what a surrogate believes, and where candidates come from."""

from collections.abc import Callable
from functools import partial

from metaml.acquisition.augmented_improvement import augmented_improvement, effective_best
from metaml.acquisition.confidence_bound import confidence_bound
from metaml.acquisition.expected_improvement import expected_improvement, log_expected_improvement
from metaml.acquisition.per_second import (
    bound_per_log_second,
    bound_per_relative_cost,
    improvement_per_log_second,
    improvement_per_second,
)
from metaml.acquisition.quantile_improvement import best_quantile, quantile_improvement
from metaml.acquisition.rule import Rule
from metaml.acquisition.upper_bound import upper_bound
from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.surrogates.base import Prediction

CostAcquisition = Callable[[Prediction, float, Floats], Floats]

ACQUISITIONS: dict[str, Rule] = {
    "upper_bound": Rule(upper_bound),
    "confidence_bound": Rule(confidence_bound, "width"),
    "expected_improvement": Rule(expected_improvement, "xi"),
    "expected_improvement_xi": Rule(partial(expected_improvement, xi=0.01)),
    "log_expected_improvement": Rule(log_expected_improvement, "xi"),
    "augmented_improvement": Rule(augmented_improvement, "weight", incumbent=effective_best, knows_noise=True),
    "quantile_improvement": Rule(
        quantile_improvement, "level", low=0.5, high=1.0, incumbent=best_quantile, knows_noise=True
    ),
}
"""What a candidate is worth, by the name a user gives; a number after a colon sets the parameter of some."""

COST_ACQUISITIONS: dict[str, CostAcquisition] = {
    "improvement_per_second": improvement_per_second,
    "improvement_per_log_second": improvement_per_log_second,
    "bound_per_log_second": bound_per_log_second,
    "bound_per_relative_cost": bound_per_relative_cost,
}


def rule_named(text: str) -> Rule:
    """Return an acquisition function by its name, or by name and number, such as `confidence_bound:2`.

    >>> rule_named("upper_bound:2")
    Traceback (most recent call last):
    metaml.errors.BadRequest: upper_bound takes no number, but was given '2'. Leave out ':2'.
    """
    name, colon, number = text.partition(":")
    if name not in ACQUISITIONS:
        raise BadRequest(f"No acquisition is named {name!r}. Choose one of {', '.join(ACQUISITIONS)}.")
    return ACQUISITIONS[name].with_parameter(number, name) if colon else ACQUISITIONS[name]


__all__ = ["ACQUISITIONS", "COST_ACQUISITIONS", "CostAcquisition", "Prediction", "Rule", "rule_named"]
