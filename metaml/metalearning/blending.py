"""A committee in which the meta-learner has a vote: a large one at first, a smaller one with every evaluation.

Van Hoof (2018), chapter 6, describes this combination: over time the surrogates of the data set at hand gain the larger
vote.
"""

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from metaml.acquisition.committee import Committee, Expert, mean_ranks
from metaml.arrays import Floats
from metaml.metalearning.guard import Guard

EQUAL_AFTER = 10
"""After this many evaluations the meta-learner and the surrogates have equal votes. The thesis gives no number."""


class BlendedCommittee(Committee):
    """Surrogates and a meta-learner: each ranks the candidates, and the mean of the ranks, weighted, decides.

    `rank` returns the meta-learner's prediction for encoded rows. If the guard finds that these contradict the
    observations, the surrogates decide alone.
    """

    name = "experience"

    def __init__(
        self,
        rank: Callable[[Floats], Floats],
        experts: Sequence[Expert],
        *,
        cost: str | None = None,
        guard: Guard | None = None,
    ) -> None:
        super().__init__(tuple(experts), cost=cost)
        self.guard = guard or Guard()
        self._rank = rank

    def fit(self, X: Floats, y: Floats, seconds: Floats, seed: int) -> Self:
        """Learn from rows, scores and, where known, seconds."""
        is_trusted = self.guard.judge(self._rank(X), y)
        self.share_ = EQUAL_AFTER / (EQUAL_AFTER + len(y)) if is_trusted else 0.0
        return super().fit(X, y, seconds, seed)

    def parts(self, X: Floats) -> Floats:
        """Return the predictions of the surrogates for each row, the seconds and the meta-learner's prediction."""
        return np.column_stack([super().parts(X), self._rank(X)])

    def values(self, parts: Floats) -> Floats:
        """Return the weighted mean of ranks."""
        return self._blended(super().values(parts[:, :-1]), parts[:, -1])

    def bounds(self, parts: Floats, width: float) -> Floats:
        """Return the weighted mean of ranks, where the surrogates go by a confidence bound."""
        return self._blended(super().bounds(parts[:, :-1], width), parts[:, -1])

    def _blended(self, values: Floats, predicted: Floats) -> Floats:
        blended: Floats = (1 - self.share_) * mean_ranks(values) + self.share_ * mean_ranks(predicted)
        return blended
