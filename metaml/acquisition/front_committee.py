"""One surrogate for each of several objectives, and the front of what was seen: what judges candidates builds on it."""

from collections.abc import Callable
from typing import Self

import numpy as np

from metaml.acquisition.committee import Belief, Committee, Expert
from metaml.arrays import Floats
from metaml.pareto import is_non_dominated


class FrontCommittee(Committee):
    """One surrogate for each objective, all fitted to the same rows. A leaf says what a candidate's costs are worth."""

    def __init__(self, surrogate: str, n_objectives: int) -> None:
        super().__init__((Expert(surrogate, "upper_bound"),) * n_objectives)
        # The lower bound of Ponweiser et al.: the confidence that all objectives are above it is one half.
        from scipy.special import ndtri

        self.optimism = float(-ndtri(0.5 * 0.5 ** (1 / n_objectives)))

    def fit_costs(
        self, X: Floats, costs: Floats, pending: Floats, *, n_left: int, seed: int, weights: Floats | None = None
    ) -> Self:
        """Learn from rows and their costs; `pending` are rows under way, believed to have their predicted costs.

        `weights` are those of the objectives, equal ones unless given, for what judges by a weighted sum.
        """
        self._low, span = costs.min(axis=0), np.ptp(costs, axis=0)
        self._span = np.where(span > 0, span, 1.0)
        unit = (costs - self._low) / self._span
        self._scales = []
        for surrogate, column in zip(self._made, unit.T, strict=True):
            if hasattr(surrogate, "seed"):
                surrogate.seed = seed
            surrogate.fit(X, -column)
            self._scales.append(Scale(surrogate.scaled, -column))
        if len(pending):
            unit = np.vstack([unit, self._costs(self.parts(pending), 0.0)])
        self.front_ = unit[is_non_dominated(unit)]
        # The front decides the scale: a corner that is far away must not hide differences on it.
        self._front_low, front_span = self.front_.min(axis=0), np.ptp(self.front_, axis=0)
        self._front_span = np.where(front_span > 1e-12, front_span, 1.0)
        self.unit_front_ = (self.front_ - self._front_low) / self._front_span
        self.n_left_, self.seed_ = n_left, seed
        self.weights_ = np.full(costs.shape[1], 1 / costs.shape[1]) if weights is None else weights
        return self

    def parts(self, X: Floats) -> Floats:
        """Return the mean of each objective for each row, in the surrogates' scales, then the standard deviations."""
        beliefs = [surrogate.predict(X) for surrogate in self._made]
        return np.column_stack([*(belief.mean for belief in beliefs), *(belief.std for belief in beliefs)])

    def costs(self, parts: Floats, width: float | Floats) -> Floats:
        """Return the costs of each row `width` standard deviations below their means, in units of the front.

        There may be a width for each objective.
        """
        costs: Floats = (self._costs(parts, width) - self._front_low) / self._front_span
        return costs

    def _costs(self, parts: Floats, gain: float | Floats) -> Floats:
        """Return the costs so many standard deviations below the means, scaled to [0, 1] by what was seen."""
        m = len(self._made)
        levels = parts[:, :m] + gain * parts[:, m:]
        return np.column_stack([-scale.back(column) for scale, column in zip(self._scales, levels.T, strict=True)])

    def believe(self, row: Floats) -> Belief:
        """Return what is expected of the first objective, as a score."""
        parts = self.parts(row[np.newaxis])
        cost, lower = (float(self._costs(parts, gain)[0, 0] * self._span[0]) for gain in (0.0, 1.0))
        return Belief(-cost - float(self._low[0]), cost - lower, None)


class Scale:
    """The way back from the scale of a surrogate to the scores it was fitted to.

    A bound is a quantile, and a monotone scale keeps quantiles: so bounds may be computed in the scale in which scores
    are easiest to model. Scores that are tied have a part of the scale of their own, as wide as if they were just not
    tied: else a plateau, of which a surrogate is never quite sure, would promise a gain at each of its places. Beyond
    what was seen, the scale goes on as a line.
    """

    def __init__(self, scaled: Callable[[Floats], Floats], scores: Floats) -> None:
        order = np.argsort(scores, kind="stable")
        # Far below what matters in a score, and above what is rounded off.
        apart = 1e-9 * max(float(np.ptp(scores)), 1e-9) * np.arange(len(scores)) / len(scores)
        self.scores = scores[order]
        self.scaled = np.maximum.accumulate(scaled(self.scores + apart))
        width = float(np.ptp(self.scaled))
        self.slope = float(np.ptp(self.scores)) / width if width > 0 else 1.0

    def back(self, levels: Floats) -> Floats:
        """Return scores for levels of the surrogate's scale."""
        inside = np.interp(levels, self.scaled, self.scores)
        beyond = np.maximum(levels - self.scaled[-1], 0.0) + np.minimum(levels - self.scaled[0], 0.0)
        scores: Floats = inside + self.slope * beyond
        return scores
