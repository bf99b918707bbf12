"""How much a longer search should gain, by its improvement so far, and whether the gain is larger than chance.

The best of n scores grows with the logarithm of n while their upper tail is exponential (the domain of attraction of
the Gumbel distribution). So m further evaluations should gain the scale of the tail times log(1 + m / n). The scale is
the mean excess of the best scores over a threshold, which is its maximum likelihood estimate (de Haan and Ferreira
2006, section 3.4). What the last half of the evaluations gained is a second estimate of it, which notices a search that
came to its end; the forecast is the mean of both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats

FEWEST, TOP_SHARE, FEWEST_TOP = 8, 0.25, 3
"""A forecast needs this many complete evaluations. The tail is this share of them, but at least three."""


@dataclass(frozen=True)
class Forecast:
    """What `n_more` further evaluations should gain on the best score, and the standard error of that score."""

    gain: float
    error: float
    n_more: int

    @property
    def is_worth_it(self) -> bool:
        """Return whether the gain is larger than the chance differences between folds."""
        return not math.isfinite(self.error) or self.gain > self.error


def forecast(scores: Sequence[float], best_folds: Sequence[float], n_more: int) -> Forecast | None:
    """Return what `n_more` evaluations should gain, given the complete ones in their order; None if these are too few.

    `scores` are higher-is-better, `best_folds` are those of the best one on each fold.

    >>> forecast([0.5, 0.7, 0.8, 0.87, 0.86, 0.86, 0.87, 0.87], [0.86, 0.88], n_more=8).is_worth_it
    False
    """
    values: Floats = np.asarray(scores, dtype=np.float64)
    values = values[np.isfinite(values)]
    if len(values) < FEWEST or n_more < 1:
        return None
    n = len(values)
    n_top = max(FEWEST_TOP, math.ceil(TOP_SHARE * n))
    ordered = np.sort(values)[::-1]
    scale = float(np.mean(ordered[:n_top] - ordered[n_top]))
    half = values[: n // 2].max()
    lately = float(values.max() - half) / math.log(n / (n // 2))
    folds: Floats = np.asarray([value for value in best_folds if math.isfinite(value)], dtype=np.float64)
    error = float(folds.std(ddof=1) / math.sqrt(len(folds))) if len(folds) > 1 else math.nan
    return Forecast((scale + lately) / 2 * math.log1p(n_more / n), error, n_more)
