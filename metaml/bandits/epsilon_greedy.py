"""Mostly the arm that looks best, sometimes any arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy.random import Generator

from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories

Judge = Literal["mean", "best"]


@dataclass(frozen=True)
class EpsilonGreedy(HistoryPolicy):
    """Picks a random arm with probability `epsilon`, else the leader (van Hoof 2018, 2.4.1).

    The leader is the arm with the largest mean reward or, with `by="best"`, the largest single reward.
    `epsilon=0` is the greedy policy.
    """

    epsilon: float = 0.1
    by: Judge = "mean"

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the leader or a random arm."""
        if rng.random() < self.epsilon:
            return int(rng.integers(len(histories.rewards)))
        return leader(histories, self.by, rng)


def leader(histories: Histories, by: Judge, rng: Generator) -> int:
    """Return the arm with the best mean or the best maximum, ties broken at random."""
    return best_arm(histories.means if by == "mean" else histories.best, rng)
