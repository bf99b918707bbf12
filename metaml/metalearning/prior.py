"""The prior of a new data set: what the knowledge base predicts before anything was evaluated on it."""

import numpy as np

from metaml.arrays import Floats
from metaml.metalearning.fidelity import n_distinct
from metaml.metalearning.landscape import Landscape
from metaml.metalearning.meta_learner import Metafeatures, MetaLearner
from metaml.metalearning.transfer_gp import Points

MOST_REMEMBERED = 20_000
"""Rows whose predictions are cached; beyond, the cache starts again."""
FOREST_SHARE = 0.25
"""Weight of the forest in the mean. More helps random forests and harms AdaBoost (openml100-sklearn, 75 tasks)."""


class Prior:
    """Predictions for a data set on which nothing was run yet, for any encoded configuration.

    The mean is 3/4 the meta-learner's prediction and 1/4 that of a forest from metafeatures to the landscape.
    """

    def __init__(self, learner: MetaLearner, landscape: Landscape, metafeatures: Metafeatures) -> None:
        self.learner = learner
        self.landscape = landscape
        self.metafeatures = dict(metafeatures)
        self._guess = landscape.guess(metafeatures) if landscape.n_datasets else np.zeros(0)
        self._remembered: dict[bytes, int] = {}
        self._points: Points | None = None

    @property
    def n_datasets(self) -> int:
        """Return the number of data sets the prior was learnt from."""
        return n_distinct(self.landscape.datasets)

    def points(self, rows: Floats) -> Points:
        """Return the rows as points of the Gaussian process; points are cached."""
        keys = [row.tobytes() for row in rows]
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered, self._points = {}, None
        fresh = {key: place for place, key in enumerate(keys) if key not in self._remembered}
        if fresh or self._points is None:
            new = self._compute(rows[list(fresh.values())])
            old = self._points
            self._points = new if old is None else _joined(old, new)
            self._remembered |= {key: len(self._remembered) + place for place, key in enumerate(fresh)}
        return self._points.take(np.array([self._remembered[key] for key in keys], dtype=np.int64))

    def _compute(self, rows: Floats) -> Points:
        average, components = self.landscape.at(rows)
        by_forest = average + components @ self._guess
        by_learner = self.learner.predict_rows(rows, self.metafeatures)
        return Points(rows, components, (1 - FOREST_SHARE) * by_learner + FOREST_SHARE * by_forest)


def _joined(first: Points, second: Points) -> Points:
    return Points(
        np.vstack([first.rows, second.rows]),
        np.vstack([first.components, second.components]),
        np.concatenate([first.mean, second.mean]),
    )
