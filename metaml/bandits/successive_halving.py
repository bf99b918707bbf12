"""Half of the arms leave at each rung, the others get twice the pulls."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from numpy.random import Generator

from metaml.bandits.base import HistoryPolicy, best_arm
from metaml.bandits.histories import Histories


@dataclass(frozen=True)
class SuccessiveHalving(HistoryPolicy):
    """Picks among the arms that survived so far, the least-pulled first (van Hoof 2018, 8.2.3).

    Every rung gets an equal share of the budget; at its end the half with the better maxima stays, until one
    arm is left for the last rung. Only the pulls an arm had at the end of a rung count there, so the
    survivors follow from the histories alone.
    """

    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the survivor with the fewest pulls."""
        alive = survivors(histories)
        return alive[best_arm(-histories.pulls[alive], rng)]


def survivors(histories: Histories) -> list[int]:
    """Return the arms of the rung that is under way."""
    alive = list(range(len(histories.rewards)))
    sizes = rung_sizes(len(alive))
    share = histories.horizon / len(sizes)
    target = 0.0
    for size, next_size in pairwise(sizes):
        target += share / size
        seen = max(int(target + 1e-9), 1)
        if any(histories.pulls[arm] < seen for arm in alive):
            return alive
        alive.sort(key=lambda arm: _merit(histories, arm, seen), reverse=True)
        alive = sorted(alive[:next_size])
    return alive


def rung_sizes(n_arms: int) -> list[int]:
    """Return how many arms are alive on each rung.

    >>> rung_sizes(7)
    [7, 4, 2, 1]
    """
    sizes = [n_arms]
    while sizes[-1] > 1:
        sizes.append((sizes[-1] + 1) // 2)
    return sizes


def _merit(histories: Histories, arm: int, seen: int) -> tuple[float, float]:
    rewards = histories.rewards[arm][:seen]
    return float(rewards.max()), float(rewards.mean())
