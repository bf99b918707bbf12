"""The arm that is likely to improve the optimum for the least seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from metaml.arrays import Floats
from metaml.bandits.base import HistoryPolicy
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class CostOfImprovement(HistoryPolicy):
    """Picks an arm at random, the lower its estimated cost of improvement the more often (Wang et al. 2021).

    The chances are in inverse proportion to the costs: seconds where they are known, else pulls. With
    `in_seconds=False` cost is always pulls.
    """

    in_seconds: bool = True

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return a random arm, the cheap ones more often."""
        chances = 1 / improvement_costs(histories, in_seconds=self.in_seconds)
        return int(rng.choice(len(chances), p=chances / chances.sum()))


def improvement_costs(histories: Histories, *, in_seconds: bool = True) -> Floats:
    """Return the estimated cost of beating the best reward of all with each arm.

    To improve on itself, an arm needs the longer of two costs: that of its last improvement, and what it spent since
    without one. An arm behind the best of all also has to close the gap at its speed since the improvement before
    last; that time is doubled, because improvements get rarer (FLAML, section 4.2).
    """
    optimum = histories.best.max()
    costs = np.empty(len(histories.rewards))
    for arm, rewards in enumerate(histories.rewards):
        spent = np.cumsum(histories.seconds[arm] if in_seconds else np.ones(len(rewards)))
        curve = np.maximum.accumulate(rewards)
        steps = np.flatnonzero(np.diff(curve, prepend=-1.0) > 0)
        last = spent[steps[-1]]
        before, start = (spent[steps[-2]], curve[steps[-2]]) if len(steps) > 1 else (0.0, 0.0)
        costs[arm] = max(last - before, spent[-1] - last)
        gain, gap = curve[-1] - start, optimum - curve[-1]
        if gap > 0:
            speed = gain / (spent[-1] - before)
            catch_up = 2 * gap / speed if speed > 0 else np.inf
            # Beyond ten times what it cost so far the estimate is a guess: the arm keeps a small chance.
            costs[arm] = max(costs[arm], min(catch_up, 10 * spent[-1]))
    return costs
