"""How far a front is behind another, and which of its points is the best compromise."""

import numpy as np

from metaml.arrays import Floats


def epsilon_indicator(costs: Floats, reference_set: Floats) -> float:
    """Return by how much a front must be lowered in every objective to be as good as each reference point.

    The additive epsilon indicator of Zitzler et al. (2003): 0 or less means that the front is nowhere behind.

    >>> epsilon_indicator(np.array([[1.0, 2.0]]), np.array([[1.0, 1.5], [2.0, 2.0]]))
    0.5
    """
    excess = (costs[:, np.newaxis, :] - reference_set[np.newaxis, :, :]).max(axis=2)
    return float(excess.min(axis=0).max())


def knee(costs: Floats) -> int:
    """Return the position of the point that is nearest to the best of every objective, each scaled to [0, 1].

    >>> knee(np.array([[0.0, 10.0], [0.1, 2.0], [1.0, 0.0]]))
    1
    """
    low, high = costs.min(axis=0), costs.max(axis=0)
    unit = (costs - low) / np.where(high > low, high - low, 1.0)
    return int(np.argmin(np.square(unit).sum(axis=1)))
