"""Augmented expected improvement, for scores with noise (Huang et al. 2006; AEI of mlrMBO)."""

import numpy as np

from metaml.acquisition.expected_improvement import expected_improvement
from metaml.arrays import Floats
from metaml.surrogates.base import Prediction


def augmented_improvement(prediction: Prediction, incumbent: float, *, noise: float, weight: float = 1.0) -> Floats:  # noqa: ARG001
    """Return the expected improvement, less where another evaluation would tell little beyond the noise.

    >>> from metaml.surrogates.base import normal_prediction
    >>> belief = normal_prediction(np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    >>> augmented_improvement(belief, 1.0, noise=1.0).round(4).tolist()
    [0.1168, 0.1168]
    """
    share = 1 - noise / np.sqrt(np.maximum(prediction.std**2 + noise**2, 1e-300))
    value: Floats = expected_improvement(prediction, incumbent) * share
    return value


def effective_best(seen: Prediction, *, weight: float = 1.0) -> float:
    """Return the mean of the evaluated row that is best by its mean less `weight` standard deviations.

    >>> effective_best(Prediction(np.array([0.9, 0.8]), np.array([0.3, 0.0]), np.zeros(2)))
    0.8
    """
    return float(seen.mean[int(np.argmax(seen.mean - weight * seen.std))])
