"""A guard against being misled: does what the meta-learner said agree with what is observed here?"""

from dataclasses import dataclass, field

import numpy as np

from metaml.metalearning.assessment.quality import kendall
from metaml.metalearning.scales import Array

LEAST = 5
"""Evaluations before the guard judges; with fewer, chance decides."""
ENOUGH = 10
LENIENCE = 0.1
"""Before ten evaluations a correlation must be this far below zero: those chosen first were all said to be good, and
among equals chance decides. On openml100-sklearn it halves false alarms and finds an inverted knowledge base nearly as
soon."""


@dataclass(frozen=True)
class Verdict:
    """After how many evaluations trust was lost or won back, and the rank correlation then."""

    n_evaluations: int
    tau: float
    is_trusted: bool

    def __str__(self) -> str:
        change = "is trusted again" if self.is_trusted else "was switched off"
        return (
            f"After {self.n_evaluations} evaluations the knowledge base {change}: "
            f"rank correlation with what was observed {self.tau:+.2f}."
        )


@dataclass
class Guard:
    """Trusts until, from `least` evaluations on, Kendall's tau between said and observed is clearly below zero.

    From ten evaluations on, zero itself is too little. It judges anew at every step, and
    `verdicts` keeps each change of mind.
    """

    least: int = LEAST
    verdicts: list[Verdict] = field(default_factory=list)
    tau: float | None = None

    @property
    def is_trusted(self) -> bool:
        """Return whether the knowledge base has a vote now."""
        return not self.verdicts or self.verdicts[-1].is_trusted

    def judge(self, said: Array, observed: Array) -> bool:
        """Return whether to trust, given what was said of the evaluations so far and what they gave.

        >>> guard = Guard()
        >>> guard.judge(np.arange(5.0), -np.arange(5.0))
        False
        >>> str(guard.verdicts[0])
        'After 5 evaluations the knowledge base was switched off: rank correlation with what was observed -1.00.'
        """
        known = np.isfinite(said) & np.isfinite(observed)
        n = int(known.sum())
        if n < self.least:
            return self.is_trusted
        # Without any order on one side nothing was refuted: a data set on which everything ties is no evidence.
        if np.ptp(said[known]) == 0 or np.ptp(observed[known]) == 0:
            return self.is_trusted
        self.tau = kendall(said[known], observed[known])
        is_trusted = self.tau > (0.0 if n >= ENOUGH else -LENIENCE)
        if is_trusted != self.is_trusted:
            self.verdicts.append(Verdict(n, self.tau, is_trusted))
        return is_trusted
