"""Optimism in the face of uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from metaml.arrays import Floats
from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class UCB1(HistoryPolicy):
    """Picks the arm with the largest upper confidence bound of its mean (Auer et al. 2002)."""

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the arm with the largest bound."""
        return best_arm(ucb1_bounds(histories), rng)


def ucb1_bounds(histories: Histories) -> Floats:
    """Return mean + sqrt(2 ln t / n) of each arm (van Hoof 2018, 2.4.3)."""
    bounds: Floats = histories.means + np.sqrt(2 * np.log(histories.n_pulls) / histories.pulls)
    return bounds
