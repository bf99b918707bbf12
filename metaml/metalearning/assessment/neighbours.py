"""The baseline of auto-sklearn (Feurer et al. 2015): what did well on the nearest data sets by metafeatures."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from metaml.arrays import Floats
from metaml.metalearning.dataset_distances import nearest_datasets
from metaml.metalearning.history import RunHistory, facts_of
from metaml.metalearning.meta_learner import Metafeatures
from metaml.spaces.config import Config


class Neighbours:
    """Ranks configurations by the runs of the nearest data sets: the mean of the `n_runs` most similar ones."""

    def __init__(self, *, n_datasets: int = 1, n_runs: int = 5) -> None:
        self.n_datasets = n_datasets
        self.n_runs = n_runs

    def fit(self, history: RunHistory) -> Self:
        """Store the runs."""
        self.history_ = history
        return self

    def predict(self, configs: Sequence[Config], metafeatures: Metafeatures) -> Floats:
        """Return a score for each configuration; only the order counts."""
        return self.predict_rows(self.history_.encode(configs, facts_of(metafeatures)), metafeatures)

    def predict_rows(self, rows: Floats, metafeatures: Metafeatures) -> Floats:
        """Return a score for each encoded configuration."""
        history = self.history_
        if history.is_empty:
            return np.zeros(len(rows))
        close = nearest_datasets(history, metafeatures, self.n_datasets)
        places = np.concatenate([history.places[k] for k in close])
        known = np.where(np.isnan(history.rows[places]), 0.5, history.rows[places])
        asked = np.where(np.isnan(rows), 0.5, rows)
        square = (asked**2).sum(1)[:, np.newaxis] + (known**2).sum(1)[np.newaxis] - 2 * asked @ known.T
        n = min(self.n_runs, len(places))
        closest = np.argpartition(square, n - 1, axis=1)[:, :n]
        mean: Floats = history.standard[places][closest].mean(axis=1)
        return mean
