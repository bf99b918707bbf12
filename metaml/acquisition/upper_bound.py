"""The upper bound itself as the value of a candidate (van Hoof 2018, section 5.3.2)."""

import numpy as np
from numpy.typing import NDArray

from metaml.surrogates.base import Prediction

Array = NDArray[np.float64]


def upper_bound(prediction: Prediction, incumbent: float) -> Array:  # noqa: ARG001 - one signature for all
    """Return each row's upper bound; for a normal surrogate that is its 90 % quantile."""
    return prediction.upper
