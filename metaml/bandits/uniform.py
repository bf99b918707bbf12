"""The random baseline."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from metaml.bandits.base import HistoryPolicy
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class Uniform(HistoryPolicy):
    """Picks any arm with equal probability (van Hoof 2018, 7.3)."""

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return a random arm."""
        return int(rng.integers(len(histories.rewards)))
