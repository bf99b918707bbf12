"""The least-pulled arm among those that may still beat the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.random import Generator

from metaml.arrays import Floats
from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories

# Beyond this the level is 1 to the last bit.
_MOST_DOUBLINGS = 40


@dataclass(frozen=True)
class IncreasingEffort(HistoryPolicy):
    """Picks the least-pulled arm whose confidence limit exceeds the best reward so far (van Hoof 2018, 7.4).

    The confidence level is 1 - 0.1 / 2^k (eq. 7.1) with the smallest k that leaves a candidate. The thesis
    keeps k from round to round; we find it anew in each, so that the choice follows from the histories.
    """

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the candidate with the fewest pulls."""
        required = required_quantiles(histories)
        for k in range(_MOST_DOUBLINGS + 1):
            candidates = required < limit_quantile(k) - 1e-9
            if candidates.any():
                return best_arm(np.where(candidates, -histories.pulls, -np.inf), rng)
        return best_arm(-histories.pulls, rng)


def limit_quantile(k: int) -> float:
    """Return how many standard deviations the upper limit lies above the mean after `k` raises of the level.

    The interval is two-sided and normal: 90 % at k = 0.

    >>> round(limit_quantile(0), 3), round(limit_quantile(1), 3)
    (1.645, 1.96)
    """
    return NormalDist().inv_cdf(1 - 0.05 / 2**k)


def required_quantiles(histories: Histories) -> Floats:
    """Return how many standard deviations each arm's mean lies below the best reward of all.

    0 for an arm with one pull, whose interval is unbounded; infinite for an arm that never varied.
    """
    optimum = histories.best.max()
    required = np.empty(len(histories.rewards))
    for arm, rewards in enumerate(histories.rewards):
        deviation = rewards.std()
        if len(rewards) < 2:
            required[arm] = 0.0
        else:
            required[arm] = (optimum - rewards.mean()) / deviation if deviation > 1e-9 else np.inf
    return required
