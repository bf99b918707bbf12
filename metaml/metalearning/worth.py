"""What experience is worth: an opening replayed on known data sets, each without what was learnt from it.

The yardstick is a search without experience: the same defaults, then candidates at random. Scores are the levels of a
portfolio, measured or predicted by a landscape; so it is about the best single model, not about the ensemble.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from metaml.acquisition.candidates import key_of
from metaml.arrays import Floats
from metaml.metalearning.fidelity import fingerprint_of, n_distinct
from metaml.metalearning.initial_design import data_set_weights, greedy
from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.portfolio import AlgorithmConfig, Portfolio

N_SIMILAR, LEAST_SIMILAR = 20, 10
"""Similar data sets that an opening is replayed on, and without which nothing is said."""
INNER = (0.1, 0.5, 0.9)
"""An interval covers eight of ten similar data sets."""
BANDS = (0.0, 1000.0, 2500.0, 10_000.0, np.inf)
"""Sizes, in rows used, that a verdict distinguishes."""
LEAST_FOR_VERDICT, N_ERRORS = 5, 2.0
EVALUATIONS = (3, 5, 10, 20)
PAYS, COSTS, EQUAL, UNKNOWN = "pays", "costs", "no difference found", "cannot be said"


class Interval(NamedTuple):
    """A low, a middle and a high value."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Worth:
    """What an opening saved on similar data sets: evaluations, and the level that it was ahead by.

    `n_evaluations` is how long the opening is, `n_datasets` on how many data sets it was replayed. A level of 1 is the
    best candidate of a data set, 0 is the median.
    """

    n_evaluations: int
    n_datasets: int
    evaluations: Interval
    level: Interval


def opening_worth(
    portfolio: Portfolio, metafeatures: Metafeatures, n_evaluations: int, *, defaults: Sequence[AlgorithmConfig] = ()
) -> Worth | None:
    """Return what an initial design of this many evaluations, the `defaults` first, saves on similar data sets.

    None if fewer than ten of them are known: then nothing can be said.
    """
    if n_evaluations < 1 or not portfolio.n_datasets:
        return None
    weights = data_set_weights(portfolio.metafeatures, metafeatures)
    nearest = [int(k) for k in np.argsort(-weights, kind="stable")]
    first: dict[str, int] = {}
    for k in nearest:
        first.setdefault(fingerprint_of(str(portfolio.metafeatures.index[k])), k)
    replayed = list(first.values())[:N_SIMILAR]
    if len(replayed) < LEAST_SIMILAR:
        return None
    curves = [replayed_curves(portfolio, k, n_evaluations, defaults=defaults) for k in replayed]
    saved = np.array([_saved(known, chance) for known, chance in curves])
    ahead = np.array([known[-1] - chance[min(n_evaluations, len(chance)) - 1] for known, chance in curves])
    return Worth(n_evaluations, len(replayed), _interval(saved), _interval(ahead))


def replayed_curves(
    portfolio: Portfolio, k: int, n: int, *, defaults: Sequence[AlgorithmConfig] = ()
) -> tuple[Floats, Floats]:
    """Return the best level after 1 to `n` evaluations of an opening on the data set at position `k`, and by chance.

    The opening is learnt without the data set and its other sizes. The curve by chance, which begins with the same
    defaults, goes on until all candidates are evaluated; it is an expectation.
    """
    own = fingerprint_of(str(portfolio.metafeatures.index[k]))
    others = [j for j, name in enumerate(portfolio.metafeatures.index) if fingerprint_of(str(name)) != own]
    table = portfolio.metafeatures.iloc[others]
    facts = {str(name): float(value) for name, value in zip(table.columns, _row(portfolio, k), strict=True)}
    weights = data_set_weights(table, facts)
    places = {(name, key_of(config)): place for place, (name, config) in enumerate(portfolio.candidates)}
    asked = [places.get((name, key_of(config))) for name, config in defaults]
    given = [place for place in asked if place is not None][:n]
    chosen = greedy(portfolio.levels[others], weights, np.ones(len(places)), n, given=given)
    rest = np.argsort(-(weights @ portfolio.levels[others]), kind="stable").tolist()
    order = list(dict.fromkeys([*chosen, *rest]))[:n]
    levels = portfolio.levels[k]
    return np.maximum.accumulate(levels[order]), _by_chance(levels, given)


def _row(portfolio: Portfolio, k: int) -> Floats:
    return portfolio.metafeatures.iloc[k].to_numpy(np.float64)


def _by_chance(levels: Floats, given: Sequence[int]) -> Floats:
    """Return the expected best level after each evaluation: those given, then the others in random order.

    >>> _by_chance(np.array([0.0, 1.0]), []).tolist()
    [0.5, 1.0]
    """
    begun = np.maximum.accumulate(levels[list(given)]) if len(given) else np.zeros(0)
    others = np.sort(np.maximum(np.delete(levels, list(given)), begun[-1] if len(begun) else -np.inf))
    n, ranks = len(others), np.arange(1, len(others) + 1)
    below = np.ones(n)
    curve = []
    for t in range(1, n + 1):
        # The share of draws of t candidates whose best has at most this rank: drawn without replacement.
        below = below * np.maximum(ranks - t + 1, 0) / (n - t + 1)
        curve.append(float(others @ np.diff(below, prepend=0.0)))
    return np.concatenate([begun, np.array(curve)])


def _saved(known: Floats, chance: Floats) -> int:
    """Return how many evaluations more chance needs for the level that an opening ends at.

    >>> _saved(np.array([0.2, 1.0, 1.0]), np.array([0.2, 0.5, 0.8, 1.0]))
    2
    """
    return _needed(chance, known[-1]) - _needed(known, known[-1])


def _needed(curve: Floats, level: float) -> int:
    """Return after how many evaluations a curve reaches a level, at most all of them."""
    reached = np.flatnonzero(curve >= level - 1e-9)
    return int(reached[0]) + 1 if len(reached) else len(curve)


def _interval(values: Floats) -> Interval:
    low, middle, high = np.quantile(values, INNER).tolist()
    return Interval(low, middle, high)


def verdicts(portfolio: Portfolio, *, defaults: Sequence[AlgorithmConfig] = ()) -> pd.DataFrame:
    """Return, for sizes and numbers of evaluations, whether experience pays on the known data sets.

    Columns: rows, evaluations, data sets, ahead (mean level), ± error, saved (median evaluations), verdict. Where there
    are fewer than five data sets, nothing can be said; where the mean is within two standard errors, nothing was found.
    """
    sizes = portfolio.metafeatures["NumberOfInstances"].to_numpy(np.float64)
    n_most = min(max(EVALUATIONS), max(len(portfolio.candidates), 1))
    rows = []
    for low, high in pairwise(BANDS):
        inside = np.flatnonzero((sizes >= low) & (sizes < high))
        enough = n_distinct(str(portfolio.metafeatures.index[int(k)]) for k in inside) >= LEAST_FOR_VERDICT
        curves = [replayed_curves(portfolio, int(k), n_most, defaults=defaults) for k in inside] if enough else []
        for n in EVALUATIONS:
            reached = [(known[:n], chance) for known, chance in curves]
            ahead = np.array([known[-1] - chance[min(n, len(chance)) - 1] for known, chance in reached])
            saved = np.array([_saved(known, chance) for known, chance in reached])
            error = float(ahead.std(ddof=1) / np.sqrt(len(ahead))) if len(ahead) > 1 else np.nan
            rows.append(
                {
                    "rows": _band_name(low, high),
                    "evaluations": n,
                    "data sets": len(inside),
                    "ahead": round(float(ahead.mean()), 3) if len(ahead) else None,
                    "± error": round(error, 3) if len(ahead) else None,
                    "saved": round(float(np.median(saved))) if len(ahead) else None,
                    "verdict": _verdict(ahead, error),
                }
            )
    return pd.DataFrame(rows)


def _band_name(low: float, high: float) -> str:
    if not low:
        return f"below {high:,.0f}"
    return f"{low:,.0f} and more" if np.isinf(high) else f"{low:,.0f} to {high:,.0f}"


def _verdict(ahead: Floats, error: float) -> str:
    if len(ahead) < LEAST_FOR_VERDICT:
        return UNKNOWN
    if abs(float(ahead.mean())) <= N_ERRORS * error:
        return EQUAL
    return PAYS if ahead.mean() > 0 else COSTS
