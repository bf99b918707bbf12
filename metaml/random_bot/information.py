"""What a run would teach the meta-learner per second: how unsure it is, how new the configuration, how long it takes.

It is a rule of thumb for the expected reduction of its ranking error: the width between two predicted quantiles of the
score, times the distance to what was run on the same data set, divided by the predicted seconds.
"""

from typing import Self

import numpy as np

from metaml.arrays import Floats
from metaml.surrogates.duration import Duration
from metaml.surrogates.quantile_boosting import QuantileBoosting

LOW, HIGH = 0.1, 0.9
N_TREES = 50
LEAST_COST = 0.25
"""A run counts at least this part of the usual seconds: to send and to store it takes time as well."""


class InformationRate:
    """Models of two quantiles of the score, and of the seconds, over the runs of one algorithm on many data sets.

    A row is an encoded configuration beside the metafeatures of its data set. Scores are on a scale that all data sets
    share.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self._low = QuantileBoosting(quantile=LOW, n_trees=N_TREES, seed=seed)
        self._high = QuantileBoosting(quantile=HIGH, n_trees=N_TREES, seed=seed)
        self._duration = Duration(n_trees=N_TREES, seed=seed)

    def fit(self, rows: Floats, scores: Floats, seconds: Floats) -> Self:
        """Learn from the runs so far; unknown seconds are NaN."""
        self._low.fit(rows, scores)
        self._high.fit(rows, scores)
        is_known = np.isfinite(seconds)
        usual = float(np.median(seconds[is_known])) if is_known.any() else 1.0
        self._duration.fit(rows, np.where(is_known, seconds, usual))
        self._least = LEAST_COST * usual
        return self

    def predict(self, rows: Floats, novelties: Floats) -> Floats:
        """Return what each candidate would teach per second, given how new it is on its data set."""
        width = np.maximum(self._high.predict(rows).upper - self._low.predict(rows).upper, 0.0)
        rate: Floats = width * novelties / np.maximum(self._duration.predict(rows), self._least)
        return rate


def novelty(config: Floats, known: Floats) -> float:
    """Return how far an encoded configuration is from those run on its data set, from 0 (known) to 1 (none was run).

    >>> novelty(np.array([0.0, 1.0]), np.array([[0.0, 1.0], [1.0, 1.0]])), novelty(np.zeros(2), np.zeros((0, 2)))
    (0.0, 1.0)
    """
    if not len(known):
        return 1.0
    # A parameter that only one of both has makes them differ, one that neither has does not.
    gaps = np.abs(np.nan_to_num(known, nan=-0.5) - np.nan_to_num(config, nan=-0.5))
    return float(np.minimum(gaps, 1.0).mean(axis=1).min())


def odds(rates: Floats, random_share: float) -> Floats:
    """Return how many times more often than at random each candidate is to be drawn: in part at random in any case.

    >>> odds(np.array([0.0, 3.0]), 0.5).tolist()
    [0.5, 1.5]
    """
    mean = float(rates.mean())
    if not mean > 0:
        return np.ones(len(rates))
    result: Floats = random_share + (1 - random_share) * rates / mean
    return result
