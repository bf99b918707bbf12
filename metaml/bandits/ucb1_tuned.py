"""UCB1 with a bound that knows the variance of the arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from metaml.arrays import Floats
from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class UCB1Tuned(HistoryPolicy):
    """Picks the arm with the largest variance-aware upper confidence bound (Auer et al. 2002, section 4)."""

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the arm with the largest bound."""
        return best_arm(ucb1_tuned_bounds(histories), rng)


def ucb1_tuned_bounds(histories: Histories) -> Floats:
    """Return mean + sqrt(ln t / n * min(1/4, V)) of each arm.

    V is the variance of the rewards plus sqrt(2 ln t / n). The thesis (2.4.3) gives the mean of the
    squares where the variance belongs: the square of the mean has to be subtracted.
    """
    log_t = np.log(histories.n_pulls)
    variances = np.array([arm.var() for arm in histories.rewards])
    v = variances + np.sqrt(2 * log_t / histories.pulls)
    bounds: Floats = histories.means + np.sqrt(log_t / histories.pulls * np.minimum(0.25, v))
    return bounds
