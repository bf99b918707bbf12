"""The baseline of auto-sklearn (Feurer et al. 2015): the nearest data sets by metafeatures, and what did well there."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from metaml.metafeatures.similarity import COMPARED, on_scale
from metaml.metalearning.history import RunHistory, facts_of
from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.scales import Array, Positions
from metaml.spaces.config import Config


def distances(history: RunHistory, metafeatures: Metafeatures) -> Array:
    """Return the L1 distance of each data set's metafeatures, each scaled to [0, 1], to those given.

    Compared are the eleven of van Hoof (2018), table 6.3, counts by their logarithm; where none of them is known, all
    others. A metafeature that a data set lacks counts as the median. Where nothing is known all distances are equal.
    """
    known = [
        str(name)
        for name in history.metafeatures.columns
        if np.isfinite(metafeatures.get(name, np.nan)) and history.metafeatures[name].notna().any()
    ]
    names = [name for name in known if name in COMPARED] or known
    table = on_scale(history.metafeatures[names].to_numpy(np.float64), names)
    asked = on_scale(np.array([[float(metafeatures[name]) for name in names]]), names)[0]
    useful = np.isfinite(table).any(axis=0) & np.isfinite(asked)
    table, asked = table[:, useful], asked[useful]
    if not table.shape[1]:
        return np.zeros(history.n_datasets)
    middle = np.nanmedian(table, axis=0)
    table = np.where(np.isnan(table), middle, table)
    low, high = np.minimum(table.min(axis=0), asked), np.maximum(table.max(axis=0), asked)
    span = np.where(high > low, high - low, 1.0)
    total: Array = np.abs((table - asked) / span).sum(axis=1)
    return total


def nearest(history: RunHistory, metafeatures: Metafeatures, k: int) -> Positions:
    """Return the positions of the `k` nearest data sets, the nearest first."""
    return np.argsort(distances(history, metafeatures), kind="stable")[:k]


class Neighbours:
    """Ranks configurations by the runs of the nearest data sets: the mean of the `n_runs` most similar ones."""

    def __init__(self, *, n_datasets: int = 1, n_runs: int = 5) -> None:
        self.n_datasets = n_datasets
        self.n_runs = n_runs

    def fit(self, history: RunHistory) -> Self:
        """Remember the runs."""
        self.history_ = history
        return self

    def predict(self, configs: Sequence[Config], metafeatures: Metafeatures) -> Array:
        """Return a score for each configuration; only the order counts."""
        return self.predict_rows(self.history_.encode(configs, facts_of(metafeatures)), metafeatures)

    def predict_rows(self, rows: Array, metafeatures: Metafeatures) -> Array:
        """Return a score for each encoded configuration."""
        history = self.history_
        if history.is_empty:
            return np.zeros(len(rows))
        close = nearest(history, metafeatures, self.n_datasets)
        places = np.concatenate([history.places[k] for k in close])
        known = np.where(np.isnan(history.rows[places]), 0.5, history.rows[places])
        asked = np.where(np.isnan(rows), 0.5, rows)
        square = (asked**2).sum(1)[:, np.newaxis] + (known**2).sum(1)[np.newaxis] - 2 * asked @ known.T
        n = min(self.n_runs, len(places))
        closest = np.argpartition(square, n - 1, axis=1)[:, :n]
        mean: Array = history.standard[places][closest].mean(axis=1)
        return mean
