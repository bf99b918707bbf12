"""MSPOT: a candidate is worth the volume that its predicted costs would add to the front (Zaefferer et al. 2013)."""

import numpy as np

from metaml.acquisition.committee import settled
from metaml.acquisition.epsilon_committee import lead_of
from metaml.acquisition.front_committee import FrontCommittee
from metaml.acquisition.hypervolume_committee import gains_of
from metaml.arrays import Floats


class MspotCommittee(FrontCommittee):
    """A candidate's costs are the predictions themselves, without optimism.

    MSPOT searches the front of the predictions, and evaluates the member that adds most volume. Nothing that another
    candidate dominates can add more than that one, so the front of the candidates need not be made.
    """

    name = "mspot"

    def values(self, parts: Floats) -> Floats:
        """Return the gain in volume of each row's prediction; of one that adds nothing, how far it is behind."""
        costs = self.costs(parts, 0.0)
        gains = gains_of(costs, self.unit_front_)
        return settled(np.where(gains > 0, gains, np.minimum(lead_of(costs, self.unit_front_), 0.0)))
