"""The arm that most often gives one of the top rewards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from metaml.arrays import Floats
from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class ThresholdAscent(HistoryPolicy):
    """Picks the arm with the largest upper bound of its share of top rewards (Streeter & Smith 2006).

    Made for the max k-armed problem: a reward counts if it is among the best `top` of all arms; ties with
    the last of them count too. `delta` is the probability that a bound fails.
    """

    top: int = 10
    delta: float = 0.1

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the arm with the largest bound."""
        everything = np.sort(np.concatenate(histories.rewards))
        threshold = everything[-min(self.top, len(everything))]
        hits = np.array([(arm >= threshold).sum() for arm in histories.rewards])
        confidence = float(np.log(2 * histories.horizon * len(hits) / self.delta))
        return best_arm(chernoff_bounds(hits / histories.pulls, histories.pulls, confidence), rng)


def chernoff_bounds(share: Floats, pulls: NDArray[np.int64], confidence: float) -> Floats:
    """Return share + (a + sqrt(2 n share a + a^2)) / n with a = `confidence` (Streeter & Smith 2006)."""
    bounds: Floats = share + (confidence + np.sqrt(2 * pulls * share * confidence + confidence**2)) / pulls
    return bounds
