"""The confidence bound: a number of standard deviations above the mean (Thomas 2019, mlrMBO, section 2.1.3)."""

from metaml.arrays import Floats
from metaml.surrogates.base import Prediction


def confidence_bound(prediction: Prediction, incumbent: float, *, width: float = 1.0) -> Floats:  # noqa: ARG001
    """Return the mean plus `width` standard deviations; scores are maximised, so the bound is the upper one.

    >>> from metaml.surrogates.base import normal_prediction
    >>> import numpy as np
    >>> confidence_bound(normal_prediction(np.array([0.5]), np.array([0.1])), 0.0, width=2.0).round(3).tolist()
    [0.7]
    """
    bound: Floats = prediction.mean + width * prediction.std
    return bound
