"""Recorded configurations of one algorithm on one data set, to be looked up instead of evaluated."""

from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.spaces.config import Config


@dataclass(frozen=True, eq=False)
class RecordedRuns:
    """All configurations that a simulation can propose, with their scores (higher is better) and seconds."""

    dataset: str
    algorithm: str
    configs: tuple[Config, ...]
    scores: Floats
    seconds: Floats | None = None

    def __post_init__(self) -> None:
        lengths = {
            len(self.configs),
            len(self.scores),
            len(self.configs if self.seconds is None else self.seconds),
        }
        if len(lengths) != 1 or not self.configs:
            raise BadRequest(
                f"The pool of {self.algorithm} on {self.dataset} has {len(self.configs)} configurations and "
                f"{len(self.scores)} scores. Give one score (and one time, or none) for each, and at least one."
            )

    @property
    def is_flat(self) -> bool:
        """Return whether all scores are equal; a simulation would then show nothing."""
        return bool(np.ptp(self.scores) <= 0)

    def regret(self, best: Floats) -> Floats:
        """Return how far below the optimum a score is, in per cent of the pool's range.

        >>> RecordedRuns("d", "a", ({}, {}, {}), np.array([0.5, 0.7, 0.9])).regret(np.array([0.7])).round(6).tolist()
        [50.0]
        """
        high = float(self.scores.max())
        regret: Floats = (high - best) / (high - float(self.scores.min())) * 100.0
        return regret
