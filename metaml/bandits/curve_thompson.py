"""The arm that would end best if it improved from now on as it did on an earlier data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.cost_of_improvement import CostOfImprovement
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class CurveThompson(HistoryPolicy):
    """Picks the arm with the largest estimate of its final best, drawn from what the KB has seen.

    `curves[arm]` holds one sequence per data set of the KB: the best score after 1, 2, ... evaluations of
    that algorithm, in the unit of the rewards. For each arm one data set is drawn; the estimate is the arm's
    best so far plus what the curve still gained from as many pulls to the end of the budget. A curve that is
    too short is taken to stay flat. An arm without curves borrows those of all others; without any curve
    the policy is `cost_of_improvement`. Curves that `are_levels` have no unit: a level of 1 is the best of a data set,
    and so is a reward of 1.
    """

    curves: Sequence[Sequence[Sequence[float]]] = ()
    are_levels: bool = False

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the arm with the largest drawn estimate."""
        everyone = [curve for curves in self.curves for curve in curves]
        if not everyone:
            return CostOfImprovement().pick(histories, rng)
        estimates = histories.best.copy()
        for arm, n_pulls in enumerate(histories.pulls):
            own = self.curves[arm] if arm < len(self.curves) else ()
            curves = own or everyone
            curve = curves[int(rng.integers(len(curves)))]
            unit = 1.0 if self.are_levels else histories.span
            estimates[arm] += gain(curve, int(n_pulls), histories.rounds_left) / unit
        return best_arm(estimates, rng)


def gain(curve: Sequence[float], n_pulls: int, n_more: int) -> float:
    """Return how much a best-so-far curve rises in `n_more` pulls after `n_pulls`.

    >>> gain([0.5, 0.5, 0.75, 1.0], n_pulls=2, n_more=1)
    0.25
    """
    values = np.maximum.accumulate(np.asarray(curve, dtype=np.float64))
    last = len(values) - 1
    return float(values[min(n_pulls + n_more - 1, last)] - values[min(n_pulls - 1, last)])
