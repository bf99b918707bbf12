"""The baseline that ignores all rewards: one algorithm gets everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator

from metaml.errors import BadRequest


@dataclass(frozen=True)
class Always:
    """Chooses the same arm in every round (van Hoof 2018, 7.3); the one policy that does not try all arms."""

    arm: int = 0

    def choose(
        self,
        rewards: Sequence[Sequence[float]],
        rng: Generator,  # noqa: ARG002
        *,
        seconds: Sequence[Sequence[float]] | None = None,  # noqa: ARG002
        rounds_left: int | None = None,  # noqa: ARG002
    ) -> int:
        """Return that arm."""
        if not 0 <= self.arm < len(rewards):
            raise BadRequest(f"There is no arm {self.arm} among {len(rewards)}. Count from 0.")
        return self.arm
