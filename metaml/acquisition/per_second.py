"""Values that weigh the promise of a candidate against the seconds it will take (van Hoof 2018, section 5.4)."""

import numpy as np

from metaml.acquisition.expected_improvement import expected_improvement
from metaml.arrays import Floats
from metaml.surrogates.base import Prediction


def improvement_per_second(prediction: Prediction, incumbent: float, seconds: Floats) -> Floats:
    """Return expected improvement over expected seconds (Snoek et al. 2012)."""
    return expected_improvement(prediction, incumbent) / seconds


def improvement_per_log_second(prediction: Prediction, incumbent: float, seconds: Floats) -> Floats:
    """Return expected improvement over log(1 + seconds): the thesis' EI/s (section 2.2.5), kept positive by the 1."""
    return expected_improvement(prediction, incumbent) / np.log1p(seconds)


def bound_per_log_second(prediction: Prediction, incumbent: float, seconds: Floats) -> Floats:  # noqa: ARG001
    """Return how far the upper bound is above its median, over log(1 + seconds): eq. 5.2.

    As printed, eq. 5.2 divides by log(seconds), which is zero at one second and turns the order round below
    it. One second is added. A bound below the median is multiplied instead of divided, because dividing would
    make an expensive bad candidate look better than a cheap one.

    >>> from metaml.surrogates.base import normal_prediction
    >>> belief = normal_prediction(np.array([0.6, 0.7, 0.9]), np.zeros(3))
    >>> bound_per_log_second(belief, 0.0, np.full(3, np.e - 1)).round(3).tolist()
    [-0.1, 0.0, 0.2]
    """
    return _ratio(prediction.upper, np.log1p(seconds))


def bound_per_relative_cost(prediction: Prediction, incumbent: float, seconds: Floats) -> Floats:  # noqa: ARG001
    """Return how far the upper bound is above its median, over log(1 + seconds / median seconds).

    Measured against the median candidate, the value does not depend on the unit of time.
    """
    return _ratio(prediction.upper, np.log1p(seconds / np.median(seconds)))


def _ratio(upper: Floats, cost: Floats) -> Floats:
    gain = upper - np.median(upper)
    ratio: Floats = np.where(gain >= 0, gain / cost, gain * cost)
    return ratio
