"""KNN+LightGBM: LightGBM on the runs of the nearest data sets alone (van Hoof 2018, section 6.3.4)."""

from dataclasses import replace
from typing import Self

from metaml.arrays import Floats
from metaml.metalearning.dataset_distances import nearest_datasets
from metaml.metalearning.history import RunHistory
from metaml.metalearning.meta_learner import THESIS, Metafeatures, MetaLearner

OF_HYPERPARAMETERS = (replace(THESIS, inputs="hyperparameters"),)


class NearestLearner:
    """Trains on the `n_datasets` most similar data sets; the thesis found one to be best."""

    def __init__(self, *, n_datasets: int = 1, seed: int = 0) -> None:
        self.n_datasets = n_datasets
        self.seed = seed

    def fit(self, history: RunHistory) -> Self:
        """Store the runs."""
        self.history_ = history
        return self

    def predict_rows(self, rows: Floats, metafeatures: Metafeatures) -> Floats:
        """Return a score for each encoded configuration."""
        nearest = nearest_datasets(self.history_, metafeatures, self.n_datasets)
        runs = self.history_.keep(int(place) for place in nearest)
        return MetaLearner(OF_HYPERPARAMETERS, seed=self.seed).fit(runs).predict_rows(rows, metafeatures)
