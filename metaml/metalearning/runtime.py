"""Predicts how long a configuration takes on a data set on which nothing was run yet.

Seconds are divided by those of the reference workload on the same host. Runs of different machines can then be mixed,
and predictions can be converted to seconds of this machine.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from metaml.arrays import Floats
from metaml.encoding import Encoder
from metaml.metalearning.history import RunHistory, facts_of
from metaml.metalearning.meta_learner import Metafeatures, described_as
from metaml.spaces.config import Config
from metaml.surrogates.boosting import boost, booster_prediction

SHORTEST = 1e-4
SIZE_NAMES = ("NumberOfInstances", "NumberOfFeatures", "NumberOfClasses", "NumberOfSymbolicFeatures")
SETTINGS: dict[str, str | int | float | bool] = {
    "objective": "regression",
    "num_leaves": 16,
    "learning_rate": 0.05,
    "min_data_in_leaf": 5,
    "feature_fraction": 0.8,
}


class RuntimeLearner:
    """LightGBM on the logarithm of seconds, from the configuration and the size of the data set."""

    def __init__(self, *, n_trees: int = 200, seed: int = 0) -> None:
        self.n_trees = n_trees
        self.seed = seed
        self.booster_: Any = None
        self.encoder_ = Encoder(unit=True)
        self.level_: float | None = None
        self.has_reference_ = False

    def fit(self, history: RunHistory) -> Self:
        """Learn from runs with known seconds; if some have a known reference, only from those."""
        self.encoder_ = history.encoder
        known = np.isfinite(history.seconds) & (history.seconds > 0)
        referenced = known & np.isfinite(history.reference) & (history.reference > 0)
        self.has_reference_ = bool(referenced.any())
        used = referenced if self.has_reference_ else known
        self.booster_, self.level_ = None, None
        if not used.any():
            return self
        units = history.reference[used] if self.has_reference_ else np.ones(int(used.sum()))
        y = np.log(np.maximum(history.seconds[used], SHORTEST) / units)
        self.level_ = float(np.median(y))
        if np.ptp(y) > 0:
            groups = history.groups[used]
            described = {
                name: history.metafeatures[name].to_numpy(np.float64)[groups]
                for name in SIZE_NAMES
                if name in history.metafeatures
            }
            described["NumberOfInstances"] = history.n_rows[used]
            X = self._inputs(history.rows[used], described)
            self.booster_ = boost(X, y, SETTINGS, n_trees=self.n_trees, seed=self.seed)
        return self

    def predict(
        self,
        configs: Sequence[Config],
        metafeatures: Metafeatures,
        *,
        reference_seconds: float | None = None,
        n_rows: float | None = None,
    ) -> Floats:
        """Return the expected seconds of each configuration on a host with this reference; NaN if nothing is known.

        Without a reference on either side, seconds are those of the machines in the knowledge base. `n_rows` is the
        number of rows that are used, if not all.
        """
        if self.level_ is None:
            return np.full(len(configs), np.nan)
        unit = reference_seconds if self.has_reference_ and reference_seconds is not None else 1.0
        if self.booster_ is None:
            return np.full(len(configs), np.exp(self.level_) * unit)
        rows = self.encoder_.transform(configs, facts_of(metafeatures))
        sizes = dict(metafeatures) if n_rows is None else {**metafeatures, "NumberOfInstances": n_rows}
        return np.exp(booster_prediction(self.booster_, self._inputs(rows, described_as(sizes, len(rows))))) * unit

    def _inputs(self, rows: Floats, described: Mapping[str, Floats]) -> Floats:
        missing = np.full(len(rows), np.nan)
        sizes = [np.log1p(described.get(name, missing)) for name in SIZE_NAMES]
        # The last column is the log number of cells: most algorithms are linear in it.
        return np.column_stack([rows, *sizes, sizes[0] + sizes[1]])
