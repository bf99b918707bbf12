"""The best settings of each data set, and how they depend on its size."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from metaml.arrays import Floats
from metaml.insight.importance import LEAST_RUNS
from metaml.insight.ranking import expected_best
from metaml.insight.runs import DATASET_COLUMNS, AlgorithmRuns
from metaml.insight.settings import Setting, columns
from metaml.spaces.config import Config

SPLIT_ROWS = (500, 5000)
SIZES = ("n_rows", "n_columns", "n_classes")
TIED = 1e-12


@dataclass(frozen=True)
class ValueEffect:
    """One value (or range of values) of a hyperparameter.

    `share` is the part of the data sets on which it is best; equals share. `loss` is how much worse the best run with
    it is than the best run with the best value, on average over data sets, with its `standard_error`: what it costs to
    fix the hyperparameter there and to tune the others.
    """

    value: str
    share: float
    loss: float
    standard_error: float
    n_datasets: int


@dataclass(frozen=True)
class SizeGroup:
    """Data sets of similar size, and the values of each hyperparameter that are best on them."""

    label: str
    n_datasets: int
    effects: Mapping[str, tuple[ValueEffect, ...]]


@dataclass(frozen=True, eq=False)
class BestSettings:
    """What is best where.

    `table` has a row for each data set: its size, its number of runs, the best score, the gain over the default (NaN if
    that was not run) and the hyperparameters of the best run. `groups` are all data sets and then each group of sizes.
    `trends` has Spearman's correlation of the best value of each number with rows, columns and classes.
    """

    table: pd.DataFrame
    groups: tuple[SizeGroup, ...]
    trends: pd.DataFrame


def best_settings(runs: AlgorithmRuns, *, split_rows: Sequence[int] = SPLIT_ROWS) -> BestSettings:
    """Return the best settings of each data set, and of the groups of data sets between these numbers of rows."""
    fair = runs.drawn()
    groups = [_group("all data sets", fair, runs.settings)]
    rows = runs.datasets["n_rows"].to_numpy(np.float64, na_value=np.nan)
    edges = [-math.inf, *sorted(split_rows), math.inf]
    for low, high in pairwise(edges):
        inside = (rows >= low) & (rows < high)
        if inside.any() and len(edges) > 2:
            groups.append(_group(_label(low, high), fair.on(inside), runs.settings))
    return BestSettings(_table(runs), tuple(groups), _trends(runs))


def value_effects(runs: AlgorithmRuns, setting: Setting) -> tuple[ValueEffect, ...]:
    """Return the effect of each value of a hyperparameter, in the order of the values.

    On each data set, the best of equally many runs is taken for each value: the best of many is better by chance alone.
    On a full grid this is the best of all runs with that value. A data set needs 8 runs and two values.
    """
    names, levels = setting.levels(columns(runs.configs, setting))
    losses: list[Floats] = []
    for _, places in runs.places(least=LEAST_RUNS):
        scores = [runs.scores[places[levels[places] == k]] for k in range(len(names))]
        k = min((len(found) for found in scores if len(found)), default=0)
        best = np.array([expected_best(found.tolist(), k) if len(found) else math.nan for found in scores])
        if (~np.isnan(best)).sum() > 1:
            losses.append(np.nanmax(best) - best)
    if not losses:
        return ()
    table = np.array(losses)
    is_best = np.nan_to_num(table, nan=math.inf) <= TIED
    shares = (is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0)
    counts = (~np.isnan(table)).sum(axis=0)
    effects = []
    for k, name in enumerate(names):
        known = table[~np.isnan(table[:, k]), k]
        if len(known):
            error = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.inf
            effects.append(ValueEffect(name, float(shares[k]), float(known.mean()), error, int(counts[k])))
    return tuple(effects)


def _group(label: str, runs: AlgorithmRuns, settings: Sequence[Setting]) -> SizeGroup:
    effects = {setting.name: value_effects(runs, setting) for setting in settings}
    n = sum(1 for _ in runs.places(least=LEAST_RUNS))
    return SizeGroup(label, n, {name: found for name, found in effects.items() if found})


def _label(low: float, high: float) -> str:
    if math.isinf(low):
        return f"below {high:,.0f} rows"
    return f"from {low:,.0f} rows" if math.isinf(high) else f"{low:,.0f} to {high - 1:,.0f} rows"


def _table(runs: AlgorithmRuns) -> pd.DataFrame:
    rows: list[dict[str, object]] = []
    chosen: list[Config] = []
    for k, places in runs.places():
        best = int(places[np.argmax(runs.scores[places])])
        defaults = runs.scores[places[runs.is_default[places]]]
        rows.append(
            {
                **{name: runs.datasets[name].iloc[k] for name in DATASET_COLUMNS},
                "n_runs": len(places),
                "score": float(runs.scores[best]),
                "gain": float(runs.scores[best] - defaults.mean()) if len(defaults) else math.nan,
            }
        )
        chosen.append(runs.configs[best])
    table = pd.DataFrame(rows, columns=[*DATASET_COLUMNS, "n_runs", "score", "gain"])
    # As objects, so that the value None stays different from an inactive hyperparameter.
    values = {setting.name: pd.Series(columns(chosen, setting), dtype=object) for setting in runs.settings}
    return table.assign(**values)


def _trends(runs: AlgorithmRuns) -> pd.DataFrame:
    from scipy.stats import spearmanr

    fair = runs.drawn()
    chosen = [(k, int(places[np.argmax(fair.scores[places])])) for k, places in fair.places(least=LEAST_RUNS)]
    found = []
    for setting in runs.settings:
        if setting.choices or len(chosen) < 3:
            continue
        units = setting.units(columns([fair.configs[best] for _, best in chosen], setting))
        for size in SIZES:
            sizes = fair.datasets[size].to_numpy(np.float64, na_value=np.nan)[[k for k, _ in chosen]]
            known = ~np.isnan(units) & ~np.isnan(sizes)
            if known.sum() < 3 or np.ptp(units[known]) == 0 or np.ptp(sizes[known]) == 0:
                continue
            test = spearmanr(units[known], sizes[known])
            found.append((setting.name, size, float(test.statistic), float(test.pvalue), int(known.sum())))
    return pd.DataFrame(found, columns=["hyperparameter", "size", "correlation", "p_value", "n_datasets"])
