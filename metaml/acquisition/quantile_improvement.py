"""Expected quantile improvement, for scores with noise (Picheny et al. 2013; Thomas 2019, mlrMBO, section 2.5)."""

import numpy as np

from metaml.acquisition.expected_improvement import SMALLEST_STD, expected_improvement
from metaml.arrays import Floats
from metaml.surrogates.base import Prediction, normal_prediction

USUAL_LEVEL = 0.75
"""The quantile of mlrMBO."""


def quantile_improvement(
    prediction: Prediction, incumbent: float, *, noise: float, level: float = USUAL_LEVEL
) -> Floats:
    """Return by how much one more evaluation should raise the quantile of a row above the best such quantile.

    Scores are maximised: the quantile that a row exceeds with probability `level` counts. Without noise and at a level
    of one half this is the expected improvement over the best mean.

    >>> belief = normal_prediction(np.array([1.0]), np.array([1.0]))
    >>> quantile_improvement(belief, 1.0, noise=0.0, level=0.5).round(4).tolist()
    [0.3989]
    """
    variance = np.maximum(prediction.std, SMALLEST_STD) ** 2
    total = variance + noise**2
    after = normal_prediction(
        prediction.mean - _width(level) * np.sqrt(noise**2 * variance / total), variance / np.sqrt(total)
    )
    return expected_improvement(after, incumbent)


def best_quantile(seen: Prediction, *, level: float = USUAL_LEVEL) -> float:
    """Return the best quantile of the evaluated rows.

    >>> best_quantile(Prediction(np.array([0.9, 0.8]), np.array([0.3, 0.0]), np.zeros(2)))
    0.8
    """
    return float((seen.mean - _width(level) * seen.std).max())


def _width(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(level))
