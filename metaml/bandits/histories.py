"""What a policy sees: the rewards of all arms on one scale, their seconds, and the rounds left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from metaml.arrays import Floats
from metaml.errors import BadRequest

# Digits kept of a scaled reward: equal rewards stay equal whatever the unit of the score.
_DIGITS = 12
_UNKNOWN_HORIZON = 50


@dataclass(frozen=True, eq=False)
class Histories:
    """Rewards per arm in the order of the pulls, scaled to [0, 1] over all arms; higher is better.

    A failed evaluation (NaN or infinite reward) is a pull with the worst reward, 0. `span` is the
    distance from the worst to the best reward in the unit of the score (1 if there is no distance).
    """

    rewards: tuple[Floats, ...]
    seconds: tuple[Floats, ...]
    rounds_left: int
    span: float = 1.0

    @classmethod
    def of(
        cls,
        rewards: Sequence[Sequence[float]],
        seconds: Sequence[Sequence[float]] | None = None,
        rounds_left: int | None = None,
    ) -> Self:
        """Return the histories of raw rewards.

        Without `seconds` every pull costs one. Without `rounds_left` we assume a horizon of 50
        rounds, doubled each time it is reached.
        """
        if not rewards:
            raise BadRequest("There is no arm to choose from. Give at least one algorithm.")
        scaled, span = _scale([np.asarray(arm, dtype=np.float64) for arm in rewards])
        if rounds_left is None:
            rounds_left = _assumed_rounds_left(sum(len(arm) for arm in scaled))
        return cls(scaled, _costs(scaled, seconds), max(rounds_left, 0), span)

    @cached_property
    def pulls(self) -> NDArray[np.int64]:
        """The number of pulls of each arm."""
        return np.array([len(arm) for arm in self.rewards], dtype=np.int64)

    @cached_property
    def n_pulls(self) -> int:
        """The number of pulls of all arms together."""
        return int(self.pulls.sum())

    @cached_property
    def horizon(self) -> int:
        """The number of rounds made and to come."""
        return self.n_pulls + self.rounds_left

    @cached_property
    def means(self) -> Floats:
        """The mean reward of each arm; 0 for an arm without a pull."""
        return np.array([arm.mean() if len(arm) else 0.0 for arm in self.rewards])

    @cached_property
    def best(self) -> Floats:
        """The best reward of each arm; 0 for an arm without a pull."""
        return np.array([arm.max(initial=0.0) for arm in self.rewards])


def with_pending(rewards: Sequence[Sequence[float]], pending: Sequence[int]) -> list[list[float]]:
    """Return the rewards with each evaluation in flight believed to give its arm's median so far.

    An arm that has nothing yet gets a NaN: the pull counts, so parallel workers spread over the arms.

    >>> with_pending([[0.5, 0.7, 0.9], []], pending=[1, 1])
    [[0.5, 0.7, 0.9, 0.7], [nan]]
    """
    believed = []
    for arm, n_pending in zip(rewards, pending, strict=True):
        known = [reward for reward in arm if np.isfinite(reward)]
        belief = float(np.median(known)) if known else float("nan")
        believed.append([*arm, *[belief] * n_pending])
    return believed


def _scale(rewards: list[Floats]) -> tuple[tuple[Floats, ...], float]:
    everything = np.concatenate(rewards)
    known = everything[np.isfinite(everything)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    span = float(high - low)
    if span <= 1e-12 * max(abs(low), abs(high)):
        # Nothing tells the successes apart, but a success is still better than a failure.
        level = 1.0 if len(known) < len(everything) else 0.5
        return tuple(np.where(np.isfinite(arm), level, 0.0) for arm in rewards), 1.0
    scaled = []
    for arm in rewards:
        ok = np.isfinite(arm)
        values = np.zeros(len(arm))
        values[ok] = np.round((arm[ok] - low) / span, _DIGITS)
        scaled.append(values)
    return tuple(scaled), span


def _costs(rewards: tuple[Floats, ...], seconds: Sequence[Sequence[float]] | None) -> tuple[Floats, ...]:
    if seconds is None:
        return tuple(np.ones(len(arm)) for arm in rewards)
    costs = [np.asarray(arm, dtype=np.float64) for arm in seconds]
    if [len(arm) for arm in costs] != [len(arm) for arm in rewards]:
        raise BadRequest(
            f"Seconds are there for {[len(arm) for arm in costs]} pulls per arm, rewards for "
            f"{[len(arm) for arm in rewards]}. Give one number of seconds per reward."
        )
    everything = np.concatenate(costs)
    known = everything[np.isfinite(everything) & (everything > 0)]
    # An evaluation of unknown length is likely one that was stopped: it counts as the longest known.
    unknown = known.max() if len(known) else 1.0
    return tuple(np.where(np.isfinite(arm) & (arm > 0), arm, unknown) for arm in costs)


def _assumed_rounds_left(n_pulls: int) -> int:
    horizon = _UNKNOWN_HORIZON
    while horizon <= n_pulls:
        horizon *= 2
    return horizon - n_pulls
