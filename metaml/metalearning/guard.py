"""A guard against wrong predictions: do the scores predicted by the knowledge base agree with those observed?"""

from dataclasses import dataclass, field

import numpy as np

from metaml.arrays import Floats
from metaml.metalearning.rank_correlation import kendall

LEAST = 5
"""The guard needs this many evaluations; with fewer, the correlation is mostly noise."""
ENOUGH = 10
LENIENCE = 0.1
"""Before ten evaluations, the correlation must be this far below zero. The first configurations were all predicted
to be good, so their order is mostly noise. On openml100-sklearn this halves false alarms and detects an inverted
knowledge base almost as early."""


@dataclass(frozen=True)
class Verdict:
    """A change of trust: after how many evaluations, and the rank correlation at that time."""

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
    """Trusts the knowledge base while Kendall's tau between predicted and observed scores is high enough.

    With fewer than `least` evaluations trust does not change. Up to nine evaluations, tau must be above -0.1; from ten
    on, above 0. Trust is decided again at every step, and `verdicts` records each change.
    """

    least: int = LEAST
    verdicts: list[Verdict] = field(default_factory=list)
    tau: float | None = None

    @property
    def is_trusted(self) -> bool:
        """Return whether the knowledge base is trusted now."""
        return not self.verdicts or self.verdicts[-1].is_trusted

    def judge(self, predicted: Floats, observed: Floats) -> bool:
        """Return whether to trust, given the predicted and the observed scores of the evaluations so far.

        >>> guard = Guard()
        >>> guard.judge(np.arange(5.0), -np.arange(5.0))
        False
        >>> str(guard.verdicts[0])
        'After 5 evaluations the knowledge base was switched off: rank correlation with what was observed -1.00.'
        """
        known = np.isfinite(predicted) & np.isfinite(observed)
        n = int(known.sum())
        if n < self.least:
            return self.is_trusted
        # If all values of one side are equal there is no evidence against the prediction.
        if np.ptp(predicted[known]) == 0 or np.ptp(observed[known]) == 0:
            return self.is_trusted
        self.tau = kendall(predicted[known], observed[known])
        is_trusted = self.tau > (0.0 if n >= ENOUGH else -LENIENCE)
        if is_trusted != self.is_trusted:
            self.verdicts.append(Verdict(n, self.tau, is_trusted))
        return is_trusted
