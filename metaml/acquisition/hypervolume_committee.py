"""SMS-EGO: a candidate is worth the volume that its optimistic costs would add to the front (Ponweiser et al. 2008)."""

from typing import Self

import numpy as np

from metaml.acquisition.committee import Belief, Committee, Expert, settled
from metaml.arrays import Floats
from metaml.pareto import hypervolume_gains, is_non_dominated

REFERENCE = 1.1
"""Where the volume ends, in units of the front: a little beyond the worst of it, so that its ends count, too."""


class HypervolumeCommittee(Committee):
    """One surrogate for each objective, all fitted to the same rows; a candidate's costs are their lower bounds.

    A candidate that is epsilon-dominated has a value below 0: the further it is behind, the lower.
    """

    name = "sms_ego"

    def __init__(self, surrogate: str, n_objectives: int) -> None:
        super().__init__((Expert(surrogate, "upper_bound"),) * n_objectives)
        # The lower bound of Ponweiser et al.: the confidence that all objectives are above it is one half.
        from scipy.special import ndtri

        self._gain = float(-ndtri(0.5 * 0.5 ** (1 / n_objectives)))

    def fit_costs(self, X: Floats, costs: Floats, pending: Floats, *, n_left: int, seed: int) -> Self:
        """Learn from rows and their costs; `pending` are rows under way, believed to have their predicted costs."""
        self._low, span = costs.min(axis=0), np.ptp(costs, axis=0)
        self._span = np.where(span > 0, span, 1.0)
        unit = (costs - self._low) / self._span
        for surrogate, column in zip(self._made, unit.T, strict=True):
            if hasattr(surrogate, "seed"):
                surrogate.seed = seed
            surrogate.fit(X, -column)
        self._scales = [
            _line(surrogate.scaled(-column), -column) for surrogate, column in zip(self._made, unit.T, strict=True)
        ]
        if len(pending):
            unit = np.vstack([unit, self.parts(pending)[:, : len(self._made)]])
        self.front_ = unit[is_non_dominated(unit)]
        # The front decides the scale: a corner that is far away must not hide differences on it.
        self._front_low, front_span = self.front_.min(axis=0), np.ptp(self.front_, axis=0)
        self._front_span = np.where(front_span > 1e-12, front_span, 1.0)
        share_left = 1 - 0.5 ** len(self._made)
        self._epsilon = 1.0 / (len(self.front_) + share_left * n_left)
        return self

    def parts(self, X: Floats) -> Floats:
        """Return the mean of each objective's cost for each row, then the standard deviations."""
        means, deviations = [], []
        for surrogate, (slope, offset) in zip(self._made, self._scales, strict=True):
            believed = surrogate.predict(X)
            means.append(-(slope * believed.mean + offset))
            deviations.append(slope * believed.std)
        return np.column_stack([*means, *deviations])

    def values(self, parts: Floats) -> Floats:
        """Return the gain in volume of each row's lower bound, or how far it is behind the front, as a negative."""
        m = len(self._made)
        bounds = parts[:, :m] - self._gain * parts[:, m:]
        bounds = (bounds - self._front_low) / self._front_span
        front = (self.front_ - self._front_low) / self._front_span
        gains = hypervolume_gains(bounds, front, np.full(m, REFERENCE))
        behind = bounds[:, np.newaxis, :] - front[np.newaxis, :, :]
        is_behind = (behind >= -self._epsilon).all(axis=2)
        penalties = np.where(is_behind, np.prod(1 + np.maximum(behind, 0.0), axis=2) - 1, -1.0).max(axis=1)
        return settled(np.where(is_behind.any(axis=1), -penalties, gains))

    def believe(self, row: Floats) -> Belief:
        """Return what is expected of the first objective, as a score."""
        parts = self.parts(row[np.newaxis])[0]
        cost = parts[0] * self._span[0] + self._low[0]
        return Belief(float(-cost), float(parts[len(self._made)] * self._span[0]), None)


def _line(scaled: Floats, y: Floats) -> tuple[float, float]:
    """Return slope and offset that lead from a surrogate's linear scale back to what it was fitted to."""
    spread = float(np.ptp(scaled))
    slope = float(np.ptp(y)) / spread if spread > 0 else 1.0
    return slope, float(y.mean() - slope * scaled.mean())
