"""The portfolio: configurations of all algorithms, how well they did on many data sets, and how long they took.

A portfolio is made when lessons are learnt. It loads in milliseconds and needs no learning library. A search can start
with it while the rest of the knowledge base is still being loaded.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from metaml.acquisition.candidates import key_of
from metaml.acquisition.starts import greedy_portfolio
from metaml.algorithms import ALGORITHMS
from metaml.arrays import Floats
from metaml.evaluation.environment import environment
from metaml.metafeatures.similarity import COMPARED
from metaml.metafeatures.simple import NAMES as SIMPLE
from metaml.metalearning.fidelity import n_distinct
from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import Landscape
from metaml.spaces.config import Config

MOST_SHARED, N_COVERING, N_LOOKED_AT = 24, 4, 200
"""Per algorithm, at most 24 shared configurations, and 4 that cover the data sets best, chosen from a sample of 200."""
LEAST_SHARE = 0.1
"""A configuration is shared if it was run on at least this share of an algorithm's data sets."""
WORST_SHARE = 0.5
"""Scores below this quantile of the candidates on a data set count as equally bad."""
SIMILARITY_FEATURES = tuple(name for name in COMPARED if name in SIMPLE)
SIZES = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses")
SHORTEST = 1e-4
USUAL_MOST_ROWS, ROWS_QUANTILE = 2000.0, 0.9
"""The rows up to which seconds are known: 2,000 in the runs that come with metaml, else this quantile of all runs."""
RIDGE, SHRINKAGE = 1.0, 2.0

AlgorithmConfig = tuple[str, Config]


@dataclass(frozen=True, eq=False)
class Portfolio:
    """Candidates to evaluate first, with their results on known data sets.

    A candidate is an algorithm with a configuration. `levels` has a row for each data set and a column for each
    candidate: 1 is the best candidate on that data set, 0 is the median or worse. `costs` has a row of coefficients
    for each candidate: the logarithm of its seconds, divided by those of the host's reference workload, is linear in
    the logarithms of rows, columns and classes. It was fitted to runs with at most `most_rows` rows; beyond, seconds
    grow as the algorithm says. `metafeatures` are the simple metafeatures of the data sets. All was learnt from
    `n_runs` runs on `n_taught` data sets; a data set on which too few algorithms were run has no row.
    """

    candidates: tuple[AlgorithmConfig, ...]
    names: Mapping[str, str]
    levels: Floats
    costs: Floats
    metafeatures: pd.DataFrame
    n_runs: int = 0
    n_taught: int = 0
    most_rows: float = USUAL_MOST_ROWS

    @classmethod
    def empty(cls) -> Self:
        """Return a portfolio without candidates."""
        return cls((), {}, np.zeros((0, 0)), np.zeros((0, 4)), pd.DataFrame(columns=list(SIMILARITY_FEATURES)))

    @property
    def n_datasets(self) -> int:
        """Return the number of data sets on which the candidates are known; samples of one count one by one."""
        return len(self.levels)

    def of(self, algorithms: Collection[str]) -> Self:
        """Return the portfolio with the candidates of these algorithms only."""
        kept = [place for place, (name, _) in enumerate(self.candidates) if name in algorithms]
        chosen = tuple(self.candidates[place] for place in kept)
        return replace(self, candidates=chosen, levels=self.levels[:, kept], costs=self.costs[kept])

    def seconds(self, metafeatures: Mapping[str, float], *, n_rows: float, reference_seconds: float | None) -> Floats:
        """Return the expected seconds of each candidate on `n_rows` rows; without `reference_seconds`, on this host."""
        unit = reference_seconds if reference_seconds is not None else environment()["reference_seconds"]
        within = min(n_rows, self.most_rows)
        powers = np.array([ALGORITHMS[name].row_power if name in ALGORITHMS else 1.0 for name, _ in self.candidates])
        return np.exp(self.costs @ _size(within, metafeatures)) * unit * (n_rows / within) ** powers

    def packed(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Return the portfolio as plain JSON and arrays; `n_taught` is stored with the lessons instead."""
        content = {
            "moves": [[name, config] for name, config in self.candidates],
            "names": dict(self.names),
            "n_runs": self.n_runs,
            "most_rows": self.most_rows,
            "datasets": [str(fingerprint) for fingerprint in self.metafeatures.index],
            "metafeatures": [str(name) for name in self.metafeatures.columns],
        }
        arrays = {
            "levels": self.levels.astype(np.float32),
            "costs": self.costs.astype(np.float32),
            "described": self.metafeatures.to_numpy(np.float32),
        }
        return content, arrays

    @classmethod
    def unpacked(cls, content: Mapping[str, Any], arrays: Mapping[str, Floats], *, n_taught: int) -> Self:
        """Return the portfolio from what `packed` returned."""
        described = pd.DataFrame(
            arrays["described"].astype(np.float64), index=content["datasets"], columns=content["metafeatures"]
        )
        return cls(
            candidates=tuple((name, dict(config)) for name, config in content["moves"]),
            names=dict(content["names"]),
            levels=arrays["levels"].astype(np.float64),
            costs=arrays["costs"].astype(np.float64),
            metafeatures=described,
            n_runs=int(content["n_runs"]),
            n_taught=n_taught,
            most_rows=float(content.get("most_rows", USUAL_MOST_ROWS)),
        )


def make_portfolio(
    histories: Mapping[str, RunHistory], landscapes: Mapping[str, Landscape], *, seed: int = 0
) -> Portfolio:
    """Return the portfolio of histories whose scores are on one scale; landscapes predict scores that are missing.

    Only data sets on which at least half of the algorithms were run are used: on others, algorithms cannot be compared.
    """
    n_algorithms: dict[str, int] = defaultdict(int)
    for item in histories.values():
        for fingerprint, places in zip(item.datasets, item.places, strict=True):
            n_algorithms[fingerprint] += len(places) > 0
    datasets = sorted(fingerprint for fingerprint, n in n_algorithms.items() if 2 * n >= len(histories))
    candidates: list[AlgorithmConfig] = []
    blocks: list[Floats] = []
    costs: list[Floats] = []
    for name, item in histories.items():
        configs = [*shared(item), *covering(item, landscapes[name], seed=seed)]
        configs = list({key_of(config): config for config in configs}.values())
        candidates += [(name, config) for config in configs]
        blocks.append(_measured_or_expected(item, landscapes[name], configs, datasets))
        costs.append(_costs(item, configs))
    if not candidates or not datasets:
        return Portfolio.empty()
    tables = [item.metafeatures.reindex(columns=list(SIMILARITY_FEATURES)) for item in histories.values()]
    whole = pd.concat([table for table in tables if len(table)])
    names = {
        fingerprint: name
        for item in histories.values()
        for fingerprint, name in zip(item.datasets, item.names, strict=True)
    }
    return Portfolio(
        candidates=tuple(candidates),
        names={fingerprint: names[fingerprint] for fingerprint in datasets},
        levels=stretched(np.hstack(blocks)),
        costs=np.vstack(costs),
        metafeatures=whole[~whole.index.duplicated()].reindex(datasets),
        n_runs=sum(len(item.scores) for item in histories.values()),
        n_taught=n_distinct(names),
        most_rows=_most_rows(histories.values()),
    )


def _most_rows(histories: Iterable[RunHistory]) -> float:
    """Return the number of rows up to which the seconds of runs can be trusted."""
    rows = np.concatenate([item.n_rows[np.isfinite(item.n_rows)] for item in histories])
    return max(float(np.quantile(rows, ROWS_QUANTILE)), 1.0) if len(rows) else USUAL_MOST_ROWS


def shared(history: RunHistory) -> list[Config]:
    """Return the configurations that were run on many data sets, the most frequent first."""
    seen: dict[str, set[int]] = defaultdict(set)
    configs: dict[str, Config] = {}
    for place, config in enumerate(history.configs):
        key = key_of(config)
        configs.setdefault(key, dict(config))
        seen[key].add(int(history.groups[place]))
    least = max(2.0, LEAST_SHARE * history.n_datasets)
    often = [key for key, groups in seen.items() if len(groups) >= least]
    return [configs[key] for key in sorted(often, key=lambda key: -len(seen[key]))[:MOST_SHARED]]


def covering(history: RunHistory, landscape: Landscape, *, seed: int = 0) -> list[Config]:
    """Return a few configurations of which at least one is expected to do well on most data sets."""
    if not landscape.n_datasets:
        return []
    rng = np.random.default_rng(seed)
    looked_at = rng.permutation(len(history.configs))[:N_LOOKED_AT]
    levels = landscape.levels_at(history.rows[looked_at])
    return [dict(history.configs[looked_at[place]]) for place in greedy_portfolio(levels, N_COVERING)]


def stretched(scores: Floats) -> Floats:
    """Return scores scaled on each data set: the candidates' median (or worse) is 0, the best is 1.

    An unknown score is replaced by the candidate's mean over the other data sets.

    >>> stretched(np.array([[1.0, 2.0, 3.0, 2.5]])).round(2).tolist()
    [[0.0, 0.0, 1.0, 0.33]]
    """
    known = scores[~np.isnan(scores).all(axis=1)] if len(scores) else scores
    if len(known) < len(scores):
        scores = np.where(np.isnan(scores).all(axis=1, keepdims=True), 0.0, scores)
    top = np.nanmax(scores, axis=1, keepdims=True)
    low = np.nanquantile(scores, WORST_SHARE, axis=1, keepdims=True)
    span = np.where(top > low, top - low, 1.0)
    levels = np.clip((scores - low) / span, 0.0, 1.0)
    n_known = np.maximum((~np.isnan(levels)).sum(axis=0, keepdims=True), 1)
    usual = np.nansum(levels, axis=0, keepdims=True) / n_known
    filled: Floats = np.where(np.isnan(levels), usual, levels)
    return filled


def _measured_or_expected(
    history: RunHistory, landscape: Landscape, configs: Sequence[Config], datasets: Sequence[str]
) -> Floats:
    """Return the score of each configuration on each data set: measured, else predicted, else NaN."""
    scores = np.full((len(datasets), len(configs)), np.nan)
    place_of = {fingerprint: k for k, fingerprint in enumerate(datasets)}
    rows = history.encode(configs)
    if landscape.n_datasets:
        within = [
            (k, place_of[fingerprint]) for k, fingerprint in enumerate(landscape.datasets) if fingerprint in place_of
        ]
        levels = landscape.levels_at(rows)
        for k, place in within:
            scores[place] = levels[k]
    columns = {key_of(config): column for column, config in enumerate(configs)}
    for place, config in enumerate(history.configs):
        column = columns.get(key_of(config))
        row = place_of.get(history.datasets[int(history.groups[place])])
        if column is not None and row is not None:
            scores[row, column] = history.standard[place]
    return scores


def _costs(history: RunHistory, configs: Iterable[Config]) -> Floats:
    """Return the coefficients of log seconds: slopes of the algorithm, and an intercept per configuration."""
    units = np.where(np.isfinite(history.reference), history.reference, np.nan)
    if not np.isfinite(units).any():
        # The speed of the machine is unknown: assume that of this one.
        units = np.full(len(history.seconds), environment()["reference_seconds"])
    y = np.log(np.maximum(history.seconds, SHORTEST) / units)
    by_dataset = np.array([_size(1.0, row) for _, row in history.metafeatures.iterrows()]).reshape(-1, 4)
    sizes = by_dataset[history.groups]
    sizes[:, 1] = np.log(np.maximum(np.nan_to_num(history.n_rows, nan=1.0), 1.0))
    known = np.isfinite(y)
    keys = [key_of(config) for config in history.configs]
    if not known.any():
        return np.full((len(list(configs)), 4), np.nan)
    X, target = sizes[known], y[known]
    penalty = RIDGE * np.diag([0.0, 1.0, 1.0, 1.0])
    # The ridge penalty pulls slopes towards run time that is linear in rows and columns.
    usual = np.array([0.0, 1.0, 1.0, 0.5])
    slopes = usual + np.linalg.solve(X.T @ X + penalty + 1e-9 * np.eye(4), X.T @ (target - X @ usual))
    # More data never take less time. The intercept is then the median residual.
    slopes[1:] = np.maximum(slopes[1:], 0.0)
    slopes[0] += float(np.median(target - X @ slopes))
    residual = y - sizes @ slopes
    own: dict[str, list[float]] = defaultdict(list)
    for key, value, is_known in zip(keys, residual, known, strict=True):
        if is_known:
            own[key].append(float(value))
    found = []
    for config in configs:
        values = own.get(key_of(config), [])
        found.append(slopes + np.array([sum(values) / (len(values) + SHRINKAGE), 0.0, 0.0, 0.0]))
    return np.array(found).reshape(-1, 4)


def _size(n_rows: float, metafeatures: Mapping[str, float] | pd.Series) -> Floats:
    """Return 1 and the logarithms of rows, columns and classes, each at least 1."""
    n_columns = float(metafeatures.get("NumberOfFeatures", np.nan)) - 1
    n_classes = float(metafeatures.get("NumberOfClasses", np.nan))
    values = [n_rows if n_rows > 1 else 1.0, n_columns, n_classes]
    return np.array([1.0, *(np.log(value) if np.isfinite(value) and value > 1 else 0.0 for value in values)])
