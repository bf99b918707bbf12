"""What a set of configurations is worth for an ensemble, without any predictions: by algorithm family and level.

A single model is as good as the best of a set. An ensemble also gains from the second and third best, if they err
elsewhere; two algorithms nearly always do, two configurations of one algorithm seldom. So the worth of a set on a data
set is a weighted sum of the highest levels of its best families.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats, Positions

FAMILIES = {
    "lightgbm": "boosting",
    "xgboost": "boosting",
    "gradient_boosting": "boosting",
    "catboost": "boosting",
    "random_forest": "forest",
    "extra_trees": "forest",
}
"""Algorithms that err alike; every other one is a family of its own."""
SHARES = (0.6, 0.25, 0.15)
"""What the best, the second and the third best family count."""


def families_of(algorithms: Sequence[str]) -> Positions:
    """Return a number for each algorithm, equal within a family.

    >>> families_of(["lightgbm", "svm", "xgboost"]).tolist()
    [0, 1, 0]
    """
    names = [FAMILIES.get(name, name) for name in algorithms]
    numbers = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class EnsembleGain:
    """Gains of candidates (columns of `levels`, whose rows are data sets) for an ensemble.

    `families` has the family of each candidate, as `families_of` numbers them.
    """

    levels: Floats
    families: Positions

    def gains(self, chosen: Sequence[int], weights: Floats) -> Floats:
        """Return by how much each candidate raises the weighted mean worth of those chosen.

        >>> levels = np.array([[1.0, 0.95, 0.8]])
        >>> EnsembleGain(levels, np.array([0, 0, 1])).gains([0], np.ones(1)).round(3).tolist()
        [0.0, 0.0, 0.2]
        """
        best = np.zeros((len(self.levels), int(self.families.max(initial=-1)) + 1))
        for place in chosen:
            family = self.families[place]
            best[:, family] = np.maximum(best[:, family], self.levels[:, place])
        share = weights / weights.sum()
        worth = self._worth(np.zeros((len(best), 1)), best)[:, 0]
        gains = np.zeros(self.levels.shape[1])
        for family in np.unique(self.families):
            places = np.flatnonzero(self.families == family)
            reached = np.maximum(self.levels[:, places], best[:, [family]])
            gains[places] = share @ (self._worth(reached, np.delete(best, family, axis=1)) - worth[:, np.newaxis])
        return gains

    @staticmethod
    def _worth(own: Floats, others: Floats) -> Floats:
        """Return the worth of each column of `own` beside the levels of the other families."""
        padded = np.hstack([others, np.zeros((len(others), len(SHARES)))])
        top = -np.sort(-padded, axis=1)[:, : len(SHARES)]
        worth = np.zeros_like(own)
        rest = own
        for place, share in enumerate(SHARES):
            level = top[:, [place]]
            worth = worth + share * np.maximum(rest, level)
            rest = np.minimum(rest, level)
        return worth
