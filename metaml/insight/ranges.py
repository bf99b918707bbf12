"""Ranges worth searching: where the best runs of most data sets are."""

from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats
from metaml.insight.importance import BEST_SHARE, LEAST_RUNS
from metaml.insight.runs import AlgorithmRuns
from metaml.insight.settings import Setting, columns
from metaml.spaces.config import Value

COVERED = 0.9


@dataclass(frozen=True)
class SuggestedRange:
    """Where the best values of one hyperparameter are: from `low` to `high`, or the `choices`, most frequent first.

    It holds the best values of 90 % of the data sets. `kept` is its part of the range that was searched, 0 to 1, on
    the hyperparameter's scale; near 0.9 the runs say nothing against the whole range.
    """

    name: str
    low: Value
    high: Value
    choices: tuple[Value, ...]
    kept: float
    n_datasets: int


def suggested_ranges(runs: AlgorithmRuns, *, covered: float = COVERED) -> tuple[SuggestedRange, ...]:
    """Return a range for each hyperparameter that varies: central quantiles over the best runs of all data sets.

    Probst, Boulesteix & Bischl (2019), section 3.5: there, of the one best configuration of each data set; here, of its
    best quarter, where each data set counts the same and each run by its weight. Only runs that no search proposed
    count, on data sets with at least 8 of them.
    """
    drawn = runs.drawn()
    chosen: list[int] = []
    parts: list[float] = []
    n_datasets = 0
    for _, places in drawn.places(least=LEAST_RUNS):
        best = places[np.argsort(-drawn.scores[places], kind="stable")[: max(1, round(BEST_SHARE * len(places)))]]
        weights = drawn.weights[best]
        chosen += best.tolist()
        parts += (weights / weights.sum()).tolist()
        n_datasets += 1
    if not chosen:
        return ()
    top = drawn.take(np.array(chosen, dtype=np.int64))
    weights = np.array(parts)
    ranges = [
        _range(setting, setting.units(columns(top.configs, setting)), weights, covered) for setting in runs.settings
    ]
    return tuple(
        SuggestedRange(setting.name, *found, n_datasets)
        for setting, found in zip(runs.settings, ranges, strict=True)
        if found is not None
    )


def _range(
    setting: Setting, units: Floats, weights: Floats, covered: float
) -> tuple[Value, Value, tuple[Value, ...], float] | None:
    active = ~np.isnan(units)
    if not active.any():
        return None
    units, weights = units[active], weights[active] / weights[active].sum()
    if not setting.choices:
        low, high = _quantiles(units, weights, ((1 - covered) / 2, (1 + covered) / 2))
        return setting.value_at(low), setting.value_at(high), (), high - low
    counts = np.bincount(units.astype(np.int64), weights, minlength=len(setting.choices))
    order = np.argsort(-counts, kind="stable")
    n = int(np.searchsorted(np.cumsum(counts[order]), covered - 1e-9)) + 1
    kept = tuple(setting.choices[k] for k in order[:n].tolist())
    return None, None, kept, n / len(setting.choices)


def _quantiles(values: Floats, weights: Floats, wanted: tuple[float, float]) -> tuple[float, float]:
    order = np.argsort(values, kind="stable")
    middles = np.cumsum(weights[order]) - weights[order] / 2
    low, high = np.interp(wanted, middles, values[order])
    return float(low), float(high)
