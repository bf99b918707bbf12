"""Kendall's rank correlation: how well predicted scores order what was observed."""

import warnings

import numpy as np

from metaml.arrays import Floats


def kendall(predicted: Floats, observed: Floats) -> float:
    """Return Kendall's tau-b (van Hoof 2018, eq. 6.1); 0 if all values of one side are equal.

    >>> kendall(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.3, 0.2])).__round__(3)
    0.333
    >>> kendall(np.array([1.0, 1.0]), np.array([0.1, 0.3]))
    0.0
    """
    if len(predicted) < 2 or np.ptp(predicted) == 0 or np.ptp(observed) == 0:
        return 0.0
    from scipy.stats import kendalltau

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tau = float(kendalltau(predicted, observed).statistic)
    return tau if np.isfinite(tau) else 0.0
