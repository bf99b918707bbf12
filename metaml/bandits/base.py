"""What every policy is: a rule that names the next arm from the histories of all arms, and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from metaml.arrays import Floats
from metaml.bandits.histories import Histories


class Policy(Protocol):
    """Chooses the algorithm that gets the next evaluation.

    A policy has no memory of its own: its choice depends on the histories and the generator only,
    so a session resumes from the runs in a KB.
    """

    def choose(
        self,
        rewards: Sequence[Sequence[float]],
        rng: Generator,
        *,
        seconds: Sequence[Sequence[float]] | None = None,
        rounds_left: int | None = None,
    ) -> int:
        """Return the index of the arm to pull next.

        `rewards[arm]` are the scores of that arm in the order of its pulls, in any unit, higher is
        better; NaN or an infinite value is a failure. `seconds` has the same shape. `rounds_left`
        counts the pull to be chosen.
        """
        ...


class HistoryPolicy(ABC):
    """A policy that pulls every arm once, in order, and from then on follows its own rule `pick`."""

    def choose(
        self,
        rewards: Sequence[Sequence[float]],
        rng: Generator,
        *,
        seconds: Sequence[Sequence[float]] | None = None,
        rounds_left: int | None = None,
    ) -> int:
        """Return the first arm that was never pulled, else the arm that `pick` names."""
        histories = Histories.of(rewards, seconds, rounds_left)
        for arm, n_pulls in enumerate(histories.pulls):
            if n_pulls == 0:
                return arm
        return self.pick(histories, rng)

    @abstractmethod
    def pick(self, histories: Histories, rng: Generator) -> int:
        """Return the next arm; every arm has at least one pull."""


def best_arm(values: Floats | NDArray[np.int64], rng: Generator) -> int:
    """Return the index of the largest value, ties broken at random.

    >>> best_arm(np.array([0.1, 0.4, 0.2]), np.random.default_rng(0))
    1
    """
    # Values that differ by rounding only are ties: otherwise the unit of the score would decide.
    ties = np.flatnonzero(values >= values.max() - 1e-9)
    return int(ties[0] if len(ties) == 1 else rng.choice(ties))
