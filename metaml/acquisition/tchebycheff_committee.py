"""ParEGO with a surrogate for each objective: a candidate is worth the expected gain in the weighted costs."""

import numpy as np

from metaml.acquisition.committee import settled
from metaml.acquisition.front_committee import FrontCommittee
from metaml.acquisition.scalarisation import tchebycheff
from metaml.arrays import Floats

N_DRAWS = 32
SMALL = 1e-6
"""How much the expected weighted costs count beside the gain, so that candidates without one have an order."""


class TchebycheffCommittee(FrontCommittee):
    """A candidate's value is how much better than the best run its weighted costs are expected to be.

    Knowles (2006) models the weighted costs themselves. Their maximum has an edge at which one objective takes over,
    which is hard to model. So each objective is modelled, as by Daulton et al. (2020), and what the weighted costs may
    be follows from draws of the objectives.
    """

    name = "parego"

    def values(self, parts: Floats) -> Floats:
        """Return the mean gain over draws of each row's costs."""
        best = tchebycheff(self.unit_front_, self.weights_).min()
        norms = np.array([tchebycheff(costs, self.weights_) for costs in self._drawn(parts)])
        return settled(np.maximum(best - norms, 0.0).mean(axis=0) - SMALL * norms.mean(axis=0))

    def _drawn(self, parts: Floats) -> list[Floats]:
        """Return draws of the costs of each row, in units of the front; the same deviations count for every row."""
        half = np.random.default_rng(self.seed_).normal(size=(N_DRAWS // 2, len(self.experts)))
        return [self.costs(parts, deviations) for deviations in (*half, *-half)]
