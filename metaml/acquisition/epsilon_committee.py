"""ε-EGO: a candidate is worth how far the front would have to move to be as good as its optimistic costs."""

import numpy as np

from metaml.acquisition.committee import settled
from metaml.acquisition.front_committee import FrontCommittee
from metaml.arrays import Floats


class EpsilonCommittee(FrontCommittee):
    """A candidate's costs are lower bounds, and its value is the additive ε-indicator (Wagner 2013; mlrMBO, 2.6)."""

    name = "epsilon_ego"

    def values(self, parts: Floats) -> Floats:
        """Return the indicator of each row's lower bound."""
        return settled(lead_of(self.costs(parts, self.optimism), self.unit_front_))


def lead_of(costs: Floats, front: Floats) -> Floats:
    """Return the smallest shift of a front after which it dominates each row; negative where it does already.

    >>> lead_of(np.array([[0.0, 0.0], [1.0, 1.5]]), np.array([[0.0, 1.0], [1.0, 0.25]])).tolist()
    [1.0, -0.5]
    """
    leads: Floats = (front[np.newaxis, :, :] - costs[:, np.newaxis, :]).max(axis=2).min(axis=1)
    return leads
