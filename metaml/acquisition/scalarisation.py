"""Several objectives as one: weights are drawn, and costs become their augmented Tchebycheff norm (Knowles 2006)."""

import numpy as np

from metaml.arrays import Floats

RHO = 0.05
"""How much the sum counts beside the maximum, as in ParEGO. Without it, weakly dominated points would tie."""


def draw_weights(n_objectives: int, rng: np.random.Generator) -> Floats:
    """Return weights that are not negative and sum to 1, drawn uniformly from all such."""
    return rng.dirichlet(np.ones(n_objectives))


def unit_costs(costs: Floats) -> Floats:
    """Return costs with every objective scaled to [0, 1] by the smallest and the largest that was seen.

    >>> unit_costs(np.array([[1.0, 20.0], [3.0, 10.0]])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    low, high = np.nanmin(costs, axis=0), np.nanmax(costs, axis=0)
    unit: Floats = (costs - low) / np.where(high > low, high - low, 1.0)
    return unit


def tchebycheff(costs: Floats, weights: Floats) -> Floats:
    """Return the augmented Tchebycheff norm of each row: max(w c) + 0.05 sum(w c), lower is better.

    >>> tchebycheff(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0.5, 0.5])).round(3).tolist()
    [0.525, 0.275]
    """
    weighted = costs * weights
    norm: Floats = weighted.max(axis=1) + RHO * weighted.sum(axis=1)
    return norm
