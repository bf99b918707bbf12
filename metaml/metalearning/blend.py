"""A vote of the meta-learner that is large at first and hands over to the surrogate as evaluations come in."""

import numpy as np

from metaml.acquisition.committee import mean_ranks
from metaml.metalearning.scales import Array

HALF_WAY = 10
"""Evaluations after which meta-learner and surrogate weigh the same."""


def vote(n_evaluations: int, half_way: float = HALF_WAY) -> float:
    """Return the share of the meta-learner's vote.

    >>> vote(0), vote(10), round(vote(30), 2)
    (1.0, 0.5, 0.25)
    """
    return half_way / (half_way + n_evaluations)


def blended(said: Array, acquired: Array, n_evaluations: int, *, is_trusted: bool = True) -> Array:
    """Return the value of each candidate: ranks by the meta-learner and by the surrogate, weighted by the vote.

    A meta-learner that is not trusted has no vote.

    >>> blended(np.array([1.0, 2.0]), np.array([5.0, 4.0]), 30).tolist()
    [0.75, 0.25]
    """
    share = vote(n_evaluations) if is_trusted else 0.0
    value: Array = share * mean_ranks(said) + (1 - share) * mean_ranks(acquired)
    return np.asarray(value, dtype=np.float64)
