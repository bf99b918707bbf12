"""What the opening of a session saved, in its own seconds and on the scale of its scores."""

from collections.abc import Sequence

import numpy as np

from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.portfolio import AlgorithmConfig, Portfolio
from metaml.metalearning.worth import Interval, opening_worth
from metaml.report import WorthFacts

LEAST_SCORES = 5
"""Complete evaluations without which nothing is said about scores: their median and best give the scale."""


def worth_facts(
    portfolio: Portfolio,
    metafeatures: Metafeatures,
    n_evaluations: int,
    *,
    defaults: Sequence[AlgorithmConfig],
    evaluated: Sequence[tuple[float, float]],
) -> WorthFacts | None:
    """Return what an opening of so many evaluations saved; None if too few similar data sets are known.

    `evaluated` are the seconds and scores of the session's complete evaluations. Levels become scores by the distance
    between their median and their best.
    """
    found = opening_worth(portfolio, metafeatures, n_evaluations, defaults=defaults)
    if found is None:
        return None
    seconds, scores = (np.array(column) for column in zip(*evaluated, strict=True)) if evaluated else ((), ())
    span = float(np.max(scores) - np.median(scores)) if len(scores) >= LEAST_SCORES else np.nan
    return WorthFacts(
        n_evaluations=found.n_evaluations,
        n_datasets=found.n_datasets,
        evaluations=_times(found.evaluations, 1.0),
        seconds=_times(found.evaluations, float(np.median(seconds))) if len(seconds) else None,
        score=_times(found.level, span) if np.isfinite(span) else None,
    )


def _times(interval: Interval, unit: float) -> tuple[float, float, float]:
    return interval.low * unit, interval.middle * unit, interval.high * unit
