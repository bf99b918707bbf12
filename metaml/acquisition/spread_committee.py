"""MOI-MBO: score, uncertainty and distance to what is under way are three objectives (Bischl et al. 2014)."""

from collections.abc import Sequence

import numpy as np

from metaml.acquisition.committee import Committee, settled
from metaml.acquisition.scalarisation import draw_weights, tchebycheff, unit_costs
from metaml.arrays import Floats


class SpreadCommittee(Committee):
    """A fitted committee, and rows under way that the next one should be far from.

    Thomas (2019), mlrMBO, section 2.4. A whole batch is a set of places on the front of the three objectives; one
    proposal at a time is the place that drawn weights choose. It is not dominated by any other candidate.
    """

    def __init__(self, committee: Committee, pending: Sequence[Floats], rng: np.random.Generator) -> None:
        self._committee = committee
        self._pending = np.stack(list(pending))
        self._weights = draw_weights(3, rng)

    def parts(self, X: Floats) -> Floats:
        """Return the parts of the committee and the distance to the nearest row under way."""
        filled, pending = np.nan_to_num(X, nan=-1.0), np.nan_to_num(self._pending, nan=-1.0)
        gaps = filled[:, np.newaxis, :] - pending[np.newaxis, :, :]
        return np.column_stack([self._committee.parts(X), np.sqrt((gaps**2).sum(axis=2)).min(axis=1)])

    def values(self, parts: Floats) -> Floats:
        """Return one value for each row, higher is better."""
        means = self._committee.bounds(parts[:, :-1], 0.0)
        deviations = self._committee.bounds(parts[:, :-1], 1.0) - means
        costs = -np.column_stack([means, deviations, parts[:, -1]])
        return settled(-tchebycheff(unit_costs(costs), self._weights))
