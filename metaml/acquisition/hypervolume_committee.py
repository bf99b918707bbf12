"""SMS-EGO: a candidate is worth the volume that its optimistic costs would add to the front (Ponweiser et al. 2008)."""

import numpy as np

from metaml.acquisition.committee import settled
from metaml.acquisition.front_committee import FrontCommittee
from metaml.arrays import Floats
from metaml.pareto import hypervolume_gains

REFERENCE = 1.1
"""Where the volume ends, in units of the front: a little beyond the worst of it, so that its ends count, too."""


class HypervolumeCommittee(FrontCommittee):
    """A candidate's costs are lower bounds, and its value is the gain in volume.

    A candidate that is epsilon-dominated has a value below 0: the further it is behind, the lower.
    """

    name = "sms_ego"

    def values(self, parts: Floats) -> Floats:
        """Return the gain in volume of each row's lower bound, or how far it is behind the front, as a negative."""
        costs, front = self.costs(parts, self.optimism), self.unit_front_
        share_left = 1 - 0.5 ** len(self.experts)
        epsilon = 1.0 / (len(front) + share_left * self.n_left_)
        behind = costs[:, np.newaxis, :] - front[np.newaxis, :, :]
        is_behind = (behind >= -epsilon).all(axis=2)
        penalties = np.where(is_behind, np.prod(1 + np.maximum(behind, 0.0), axis=2) - 1, -1.0).max(axis=1)
        return settled(np.where(is_behind.any(axis=1), -penalties, gains_of(costs, front)))


def gains_of(costs: Floats, front: Floats) -> Floats:
    """Return by how much each row of costs would increase the volume of a front, both in units of the front."""
    return hypervolume_gains(costs, front, np.full(costs.shape[1], REFERENCE))
