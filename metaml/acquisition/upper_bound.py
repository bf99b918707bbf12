"""The upper bound itself as the value of a candidate (van Hoof 2018, section 5.3.2)."""

from metaml.arrays import Floats
from metaml.surrogates.base import Prediction


def upper_bound(prediction: Prediction, incumbent: float) -> Floats:  # noqa: ARG001 - one signature for all
    """Return each row's upper bound; for a normal surrogate that is its 90 % quantile."""
    return prediction.upper
