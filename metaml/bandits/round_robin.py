"""The fair baseline."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class RoundRobin(HistoryPolicy):
    """Picks the arm with the fewest pulls: each once per cycle, in random order within a cycle."""

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return an arm with the fewest pulls."""
        return best_arm(-histories.pulls, rng)
