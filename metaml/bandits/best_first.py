"""The baseline that trusts the first reward of each arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class BestFirst(HistoryPolicy):
    """Always picks the arm that was best at first (van Hoof 2018, 7.5, `always_the_best`).

    Among arms with an equal first reward it stays with the one it pulled most.
    """

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the arm with the largest first reward."""
        first = np.array([arm[0] for arm in histories.rewards])
        equal = first >= first.max()
        return best_arm(np.where(equal, histories.pulls, 0), rng)
