"""The landscape: how scores vary over configurations, for each data set of a run history.

A small forest per data set predicts the configurations that were not run there. All forests are evaluated on one grid
of configurations; a multi-output forest interpolates between its points. Only the grid has to be stored.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from metaml.arrays import Floats
from metaml.metalearning.history import RunHistory
from metaml.metalearning.meta_learner import Metafeatures
from metaml.system.threads import at_most_threads, importing

N_COMPONENTS = 25
"""Five components explain 90 % of the variance over data sets (openml100-sklearn); more cost little."""
INACTIVE = -1.0


@dataclass(frozen=True, eq=False)
class Landscape:
    """Scores of data sets on a grid of encoded configurations, in standard deviations of each data set."""

    datasets: tuple[str, ...]
    grid: Floats
    levels: Floats
    metafeatures: pd.DataFrame
    log_spread: Floats
    seed: int = 0

    @property
    def n_datasets(self) -> int:
        """Return the number of data sets."""
        return len(self.datasets)

    def keep(self, datasets: Iterable[int]) -> Self:
        """Return the landscape of these data sets (positions) only."""
        kept = sorted(set(datasets))
        return replace(
            self,
            datasets=tuple(self.datasets[k] for k in kept),
            levels=self.levels[kept],
            metafeatures=self.metafeatures.iloc[kept],
            log_spread=self.log_spread[kept],
        )

    @property
    def log_unit(self) -> tuple[float, float]:
        """Return the mean and the standard deviation of the logarithm of a data set's unit."""
        return float(self.log_spread.mean()), max(float(self.log_spread.std()), 0.1)

    @cached_property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """Return the mean level on the grid, the principal components there, and each data set's coordinates."""
        average = self.levels.mean(axis=0)
        # With several threads rounding differs from run to run, and a search could not be replayed.
        with at_most_threads(1):
            U, S, V = np.linalg.svd(self.levels - average, full_matrices=False)
        k = min(N_COMPONENTS, len(S))
        root = np.sqrt(self.n_datasets)
        return average, (S[:k, np.newaxis] / root * V[:k]).T, U[:, :k] * root

    @cached_property
    def _interpolator(self) -> Any:
        with importing:
            from sklearn.ensemble import ExtraTreesRegressor

        average, components, _ = self._parts
        forest = ExtraTreesRegressor(40, max_features=1.0, random_state=self.seed, n_jobs=1)
        return forest.fit(_filled(self.grid), np.column_stack([average, components]))

    def at(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the mean level of each row, and its components.

        The product of two rows' components is the covariance of their levels over data sets.
        """
        queries = _filled(rows).astype(np.float32)
        # The same as forest.predict, without checking the rows again for each tree.
        trees = [tree.tree_.predict(queries) for tree in self._interpolator.estimators_]
        found = np.sum(trees, axis=0).reshape(len(rows), -1) / len(trees)
        return found[:, 0], found[:, 1:]

    def levels_at(self, rows: Floats) -> Floats:
        """Return the level of each data set (first axis) at each row."""
        average, components = self.at(rows)
        return average + self._parts[2] @ components.T

    def guess(self, metafeatures: Metafeatures) -> Floats:
        """Return the expected coordinates, along the components, of a data set with these metafeatures."""
        with importing:
            from sklearn.ensemble import ExtraTreesRegressor

        places = self._parts[2]
        names = [name for name in self.metafeatures.columns if self.metafeatures[name].notna().any()]
        if not names or not any(np.isfinite(metafeatures.get(name, np.nan)) for name in names):
            return np.zeros(places.shape[1])
        table = self.metafeatures[names].to_numpy(np.float64)
        middle = np.nanmedian(table, axis=0)
        asked = np.array([float(metafeatures.get(name, np.nan)) for name in names])
        # Weight components by their variance: coordinates have a standard deviation of one each.
        scale = np.linalg.norm(self._parts[1], axis=0)
        forest = ExtraTreesRegressor(30, min_samples_leaf=2, max_features=0.2, random_state=self.seed, n_jobs=1).fit(
            np.where(np.isnan(table), middle, table), places * scale
        )
        predicted = forest.predict(np.where(np.isnan(asked), middle, asked)[np.newaxis])[0]
        guess: Floats = np.where(scale > 0, predicted / np.maximum(scale, 1e-12), 0.0)
        return guess


def make_landscape(history: RunHistory, *, n_grid: int = 2000, seed: int = 0) -> Landscape:
    """Return the landscape of a run history, without the data sets on which all scores are equal."""
    with importing:
        from sklearn.ensemble import ExtraTreesRegressor

    varied = [
        k
        for k, places in enumerate(history.places)
        if len(places) > 1 and np.ptp(history.standard[places]) > 0 and history.spread[k] > 0
    ]
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(history.rows))[:n_grid]
    grid = history.rows[chosen]
    levels = np.zeros((len(varied), len(grid)))
    queries = _filled(grid).astype(np.float32)
    for position, k in enumerate(varied):
        places = history.places[k]
        forest = ExtraTreesRegressor(60, min_samples_leaf=2, max_features=0.7, random_state=seed, n_jobs=1)
        forest.fit(_filled(history.rows[places]), history.standard[places])
        # Call the trees directly: the forest would check and copy the queries for each of sixty trees.
        levels[position] = np.mean([tree.tree_.predict(queries)[:, 0] for tree in forest.estimators_], axis=0)
    return Landscape(
        datasets=tuple(history.datasets[k] for k in varied),
        grid=grid,
        levels=levels,
        metafeatures=history.metafeatures.iloc[varied],
        log_spread=np.log(history.spread[varied]),
        seed=seed,
    )


def _filled(rows: Floats) -> Floats:
    filled: Floats = np.where(np.isnan(rows), INACTIVE, rows)
    return filled
