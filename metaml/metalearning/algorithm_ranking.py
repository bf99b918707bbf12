"""The bandit's prior: which algorithm to try first on a new data set, and how fast each one improves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from metaml.acquisition.starts import greedy_portfolio
from metaml.arrays import Floats
from metaml.metalearning.history import LEAST_DATASETS, RunHistory, leave_out_parts
from metaml.metalearning.landscape import Landscape
from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.transfer_gp import ExperienceProcess, Points
from metaml.system.threads import importing

N_DRAWS = 10
"""An algorithm's best score is the expected best of this many random runs, so that more runs are no advantage."""


@dataclass(frozen=True)
class Expected:
    """The expected rank (1 is best) of an algorithm, with a typical configuration and with its best one."""

    algorithm: str
    rank: float
    best_rank: float
    n_datasets: int


class AlgorithmPrior:
    """Ranks algorithms for a data set, learnt from the run history of each algorithm.

    With ten data sets or more, a forest predicts ranks from metafeatures; with fewer, ranks are averaged. An algorithm
    that shares no data set with another gets the middle rank.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, histories: Mapping[str, RunHistory]) -> Self:
        """Learn from the run histories of several algorithms, all scored by one metric."""
        self.names_ = tuple(histories)
        datasets = sorted({fingerprint for item in histories.values() for fingerprint in item.datasets})
        place = {fingerprint: k for k, fingerprint in enumerate(datasets)}
        typical = np.full((len(datasets), len(self.names_)), np.nan)
        best = typical.copy()
        tables = []
        for column, item in enumerate(histories.values()):
            tables.append(item.metafeatures)
            for k, places in enumerate(item.places):
                if len(places):
                    scores = item.scores[places]
                    typical[place[item.datasets[k]], column] = np.median(scores)
                    best[place[item.datasets[k]], column] = expected_maximum(scores, N_DRAWS)
        compared = (~np.isnan(typical)).sum(axis=1) >= 2
        self.counts_ = (~np.isnan(typical[compared])).sum(axis=0)
        self.ranks_ = np.hstack([_ranks(typical[compared]), _ranks(best[compared])])
        whole = pd.concat(tables) if tables else pd.DataFrame()
        whole = whole[~whole.index.duplicated()].reindex(datasets)
        self.metafeatures_ = whole[compared] if len(whole) else whole
        return self

    def expect(self, metafeatures: Metafeatures) -> list[Expected]:
        """Return the expected ranks of each algorithm on a data set, sorted by `best_rank`."""
        n = len(self.names_)
        middle = (n + 1) / 2
        ranks = np.where(np.isnan(self.ranks_), middle, self.ranks_)
        predicted = self._forest(ranks, metafeatures) if len(ranks) >= LEAST_DATASETS else None
        if predicted is None:
            predicted = ranks.mean(axis=0) if len(ranks) else np.full(2 * n, middle)
        found = [
            Expected(name, float(predicted[k]), float(predicted[n + k]), int(self.counts_[k]))
            for k, name in enumerate(self.names_)
        ]
        return sorted(found, key=lambda item: (item.best_rank, item.rank))

    def _forest(self, ranks: Floats, metafeatures: Metafeatures) -> Floats | None:
        with importing:
            from sklearn.ensemble import ExtraTreesRegressor

        names = [
            name
            for name in self.metafeatures_.columns
            if self.metafeatures_[name].notna().any() and np.isfinite(metafeatures.get(name, np.nan))
        ]
        if not names:
            return None
        table = self.metafeatures_[names].to_numpy(np.float64)
        table = np.where(np.isnan(table), np.nanmedian(table, axis=0), table)
        asked = np.array([[float(metafeatures[name]) for name in names]])
        forest = ExtraTreesRegressor(60, min_samples_leaf=3, max_features=0.3, random_state=self.seed, n_jobs=1)
        predicted: Floats = np.asarray(forest.fit(table, ranks).predict(asked)[0], dtype=np.float64)
        return predicted


def expected_maximum(scores: Floats, n_draws: int) -> float:
    """Return the expected maximum of `n_draws` draws from these scores, with replacement.

    >>> expected_maximum(np.array([0.0, 1.0]), 2)
    0.75
    """
    shares = (np.arange(1, len(scores) + 1) / len(scores)) ** n_draws
    return float(np.sort(scores) @ np.diff(shares, prepend=0.0))


def _ranks(table: Floats) -> Floats:
    """Return ranks within each row, 1 for the largest; ties share their mean rank, NaN stays NaN."""
    if not len(table):
        return table
    return pd.DataFrame(table).rank(axis=1, ascending=False).to_numpy(np.float64)


def improvement_curves(
    history: RunHistory, landscape: Landscape, *, n: int = 50, n_folds: int = 5, seed: int = 0
) -> list[list[float]]:
    """Return for each data set the best score after 1, 2, ... `n` evaluations of a warm-started optimizer.

    Each curve is a simulation on the runs of that data set. It starts with a portfolio of three configurations and
    uses a landscape that was learnt without the data set.
    """
    curves: list[list[float]] = []
    for part in leave_out_parts(landscape.datasets, n_folds, seed):
        rest = landscape.keep(k for k in range(landscape.n_datasets) if k not in part)
        if not rest.n_datasets:
            continue
        for k in part:
            places = history.places[history.datasets.index(landscape.datasets[k])]
            curves.append(_curve(history.rows[places], history.scores[places], rest, n))
    return curves


def _curve(rows: Floats, scores: Floats, landscape: Landscape, n: int) -> list[float]:
    average, components = landscape.at(rows)
    points = Points(rows, components, average)
    order = greedy_portfolio(landscape.levels_at(rows), 3)
    while len(order) < min(n, len(rows)):
        done = np.array(order)
        process = ExperienceProcess(landscape.log_unit).fit(points.take(done), scores[done])
        improvement = process.predict(points)[2]
        improvement[done] = -np.inf
        order.append(int(np.argmax(improvement)))
    best: list[float] = np.maximum.accumulate(scores[order[:n]]).tolist()
    return best


def curves_by_arm(
    histories: Sequence[RunHistory], landscapes: Sequence[Landscape], *, n: int = 50, seed: int = 0
) -> list[list[list[float]]]:
    """Return each algorithm's improvement curves, as `bandits.CurveThompson` reads them."""
    return [
        improvement_curves(history, landscape, n=n, seed=seed)
        for history, landscape in zip(histories, landscapes, strict=True)
    ]
