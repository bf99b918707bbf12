"""Thompson sampling when rewards are continuous."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from metaml.arrays import Floats
from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories

# A shape of zero is not a distribution. With this small shape the draw is 0 or 1, as in the limit.
_SMALLEST_SHAPE = 1e-3


@dataclass(frozen=True)
class Thompson(HistoryPolicy):
    """Picks the arm with the largest draw from a beta distribution fitted to its rewards.

    van Hoof (2018), algorithm 2 and eq. 2.24. Where the rewards of an arm do not vary, the thesis
    pulls that arm again; we do so up to `patience` pulls, after which its draw is its mean.
    Otherwise one constant arm would take the whole budget.
    """

    patience: int = 3

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the arm with the largest draw."""
        return best_arm(draw(histories, self.patience, rng), rng)


def beta_shape(mean: float, variance: float) -> tuple[float, float]:
    """Return alpha and beta of the beta distribution with this mean and variance.

    van Hoof (2018), eq. 2.24 and 2.15. `mean` lies strictly between 0 and 1.

    >>> beta_shape(0.5, 0.05)
    (2.0, 2.0)
    """
    alpha = ((1 - mean) / variance - 1 / mean) * mean**2
    return alpha, alpha * (1 / mean - 1)


def draw(histories: Histories, patience: int, rng: Generator) -> Floats:
    """Return one draw per arm; infinite for an arm whose variance is not known yet."""
    draws = np.empty(len(histories.rewards))
    for arm, rewards in enumerate(histories.rewards):
        mean, variance = float(rewards.mean()), float(rewards.var())
        if variance > 1e-18:
            alpha, beta = beta_shape(mean, variance)
            draws[arm] = rng.beta(max(alpha, _SMALLEST_SHAPE), max(beta, _SMALLEST_SHAPE))
        else:
            draws[arm] = np.inf if len(rewards) < patience else mean
    return draws
