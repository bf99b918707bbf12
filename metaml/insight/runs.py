"""The runs of one algorithm on many data sets: what every analysis of its settings starts from."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from metaml.arrays import Flags, Floats, Positions
from metaml.insight.settings import Setting, varying_settings
from metaml.spaces import Space
from metaml.spaces.config import Config

DATASET_COLUMNS = ("fingerprint", "name", "task", "n_rows", "n_columns", "n_classes")
UNBIASED_ORIGINS = ("random", "imported", "grid")
"""Nobody looked at earlier scores to propose these: drawn at random here or on OpenML, or a point of a full grid."""
MOST_WEIGHT = 10.0


@dataclass(frozen=True, eq=False)
class AlgorithmRuns:
    """Complete runs of one algorithm, scored by one metric, on many data sets.

    - `configs`, `scores`: a configuration and its score, higher is better. Differences of scores can be compared
      between data sets: a metric with the unit of the target is given as a logarithm.
    - `groups`: for each run the row of its data set in `datasets`, whose columns are DATASET_COLUMNS.
    - `weights`: how many random draws from the space a run stands for (`draw_weight`); 0 if a search proposed it.
    - `is_default`: whether it is the default configuration.
    - `spaces`: the spaces of the algorithm by task, empty if it is none of metaml's.
    - `notes`: sentences for the user.
    """

    algorithm: str
    metric: str
    configs: tuple[Config, ...]
    scores: Floats
    groups: Positions
    weights: Floats
    is_default: Flags
    datasets: pd.DataFrame
    spaces: Mapping[str, Space] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """Return the hyperparameters that vary."""
        return varying_settings(self.configs, self.spaces.values())

    @property
    def n_datasets(self) -> int:
        """Return the number of data sets."""
        return len(self.datasets)

    def places(self, *, least: int = 1) -> Iterator[tuple[int, Positions]]:
        """Yield each data set with at least so many runs, as its row, and the positions of its runs."""
        order = np.argsort(self.groups, kind="stable")
        edges = np.searchsorted(self.groups[order], np.arange(self.n_datasets + 1))
        for k in range(self.n_datasets):
            if edges[k + 1] - edges[k] >= least:
                yield k, order[edges[k] : edges[k + 1]]

    def drawn(self) -> Self:
        """Return only the runs that no search proposed: they represent the space."""
        return self.take(np.flatnonzero(self.weights > 0))

    def take(self, places: Positions) -> Self:
        """Return only the runs at these positions; all data sets stay."""
        return replace(
            self,
            configs=tuple(self.configs[k] for k in places.tolist()),
            scores=self.scores[places],
            groups=self.groups[places],
            weights=self.weights[places],
            is_default=self.is_default[places],
        )

    def on(self, datasets: Flags) -> Self:
        """Return only the runs on these data sets (a flag for each)."""
        new = np.cumsum(datasets) - 1
        chosen = self.take(np.flatnonzero(datasets[self.groups]))
        return replace(chosen, groups=new[chosen.groups], datasets=self.datasets[datasets].reset_index(drop=True))


def draw_weight(origin: str, probability: float | None, config: Config, space: Space | None) -> float:
    """Return how many uniform draws from the space a run stands for.

    A random run counts its density in the space of today over the density that it was drawn with: 1 unless the ranges
    have changed. One that is outside the space of today counts 0. So does whatever a search proposed: its probability
    is not known, and it is near the optimum because earlier scores were good there. Without a space every unbiased run
    counts 1.

    >>> draw_weight("surrogate", None, {}, None), draw_weight("imported", None, {}, None)
    (0.0, 1.0)
    """
    if origin not in UNBIASED_ORIGINS:
        return 0.0
    if origin != "random" or space is None or probability is None or not probability > 0:
        return 1.0
    if not space.is_valid(config):
        return 0.0
    weight = space.density(config) / probability
    return min(weight, MOST_WEIGHT) if math.isfinite(weight) else 0.0
