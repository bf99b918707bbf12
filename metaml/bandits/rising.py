"""Drop an arm that cannot catch up at its recent rate of improvement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from metaml.arrays import Floats
from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class Rising(HistoryPolicy):
    """Picks the least-pulled arm whose optimistic final reward reaches the best so far (Li et al. 2020).

    The best reward of an arm is a curve that rises and flattens, so its slope over the last `window` pulls,
    kept up for all rounds left, bounds what it can reach. An arm with fewer pulls is unbounded.
    Once below, an arm never returns: its bound falls with the rounds left, the best only rises.
    """

    window: int = 5

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the arm with the fewest pulls of those still in the race."""
        in_race = upper_bounds(histories, self.window) >= histories.best.max() - 1e-9
        return best_arm(np.where(in_race, -histories.pulls, -np.inf), rng)


def upper_bounds(histories: Histories, window: int) -> Floats:
    """Return best + slope * rounds left of each arm."""
    bounds = np.full(len(histories.rewards), np.inf)
    for arm, rewards in enumerate(histories.rewards):
        if len(rewards) > window:
            curve = np.maximum.accumulate(rewards)
            bounds[arm] = curve[-1] + (curve[-1] - curve[-1 - window]) / window * histories.rounds_left
    return bounds
