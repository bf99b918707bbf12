"""Explore at first, exploit at last."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from metaml.bandits.base import HistoryPolicy
from metaml.bandits.epsilon_greedy import EpsilonGreedy, Judge
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class DecreasingEpsilon(HistoryPolicy):
    """Epsilon-greedy; epsilon falls linearly from `start` to 0 over the budget (van Hoof 2018, 2.4.1)."""

    start: float = 1.0
    by: Judge = "mean"

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the leader or, less and less often, a random arm."""
        return EpsilonGreedy(self.epsilon(histories), self.by).pick(histories, rng)

    def epsilon(self, histories: Histories) -> float:
        """Return the probability of a random arm in this round."""
        return self.start * histories.rounds_left / max(histories.horizon, 1)
