"""Thompson sampling that also tries the second best arm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories
from metaml.bandits.thompson import draw

_TRIES = 50


@dataclass(frozen=True)
class TopTwoThompson(HistoryPolicy):
    """Picks the Thompson arm with probability `gamma`, else a challenger: the first other arm to win a draw.

    Russo (2016); van Hoof (2018), algorithm 3, whose last branch must pull the challenger *i* and not *k*.
    If no other arm wins in 50 draws, the challenger is the second of the last one.
    """

    gamma: float = 0.5
    patience: int = 3

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the winner of a draw or its challenger."""
        winner = best_arm(draw(histories, self.patience, rng), rng)
        if len(histories.rewards) == 1 or rng.random() < self.gamma:
            return winner
        for _ in range(_TRIES):
            draws = draw(histories, self.patience, rng)
            challenger = best_arm(draws, rng)
            if challenger != winner:
                return challenger
        draws[winner] = -np.inf
        return best_arm(draws, rng)
