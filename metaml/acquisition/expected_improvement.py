"""Expected improvement over the incumbent (van Hoof 2018, eq. 2.10 and 4.1), plain and as a logarithm."""

import math

import numpy as np

from metaml.arrays import Floats
from metaml.surrogates.base import Prediction

SMALLEST_STD = 1e-12


def expected_improvement(prediction: Prediction, incumbent: float, xi: float = 0.0) -> Floats:
    """Return E[max(Y - incumbent - xi, 0)] for normal Y.

    >>> from metaml.surrogates.base import normal_prediction
    >>> belief = normal_prediction(np.array([1.0]), np.array([1.0]))
    >>> expected_improvement(belief, incumbent=1.0).round(4).tolist()
    [0.3989]
    """
    from scipy.special import ndtr

    std = np.maximum(prediction.std, SMALLEST_STD)
    ahead = prediction.mean - incumbent - xi
    z = ahead / std
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    return np.maximum(ahead * ndtr(z) + std * density, 0.0)


def log_expected_improvement(prediction: Prediction, incumbent: float, xi: float = 0.0) -> Floats:
    """Return the logarithm of the expected improvement, which still tells hopeless candidates apart.

    Far below the incumbent the closed form is lost to rounding; there the asymptotic
    log(phi(z) / z^2) takes over (Ament et al. 2023, "Unexpected improvements to expected improvement").
    """
    from scipy.special import ndtr

    std = np.maximum(prediction.std, SMALLEST_STD)
    z = (prediction.mean - incumbent - xi) / std
    log_density = -0.5 * z**2 - 0.5 * math.log(2 * math.pi)
    near = np.maximum(z * ndtr(z) + np.exp(log_density), 1e-300)
    far = np.minimum(z, -1.0)
    tail = log_density - 2.0 * np.log(-far) + np.log1p(-3.0 / far**2 + 15.0 / far**4)
    value: Floats = np.where(z > -10.0, np.log(near), tail) + np.log(std)
    return value
