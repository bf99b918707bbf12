"""What other data sets say of the recorded configurations of one: for starts, and for a vote of the meta-learner."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from metaml.acquisition.starts import best_k
from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.metalearning.assessment.learners import LEARNERS
from metaml.metalearning.dataset_distances import nearest_datasets
from metaml.metalearning.history import LEAST_DATASETS, RunHistory, leave_out_parts, make_history
from metaml.metalearning.landscape import Landscape, make_landscape
from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.rank_correlation import kendall

N_PARTS = 10
LEARNER_RUNS, LANDSCAPE_RUNS = 100, 300
"""Runs of each data set that a meta-learner and a landscape learn from."""


@dataclass(frozen=True, eq=False)
class OtherDatasets:
    """What was learnt without the data set of a pool, and says something of each of its configurations.

    `rows` are these configurations as the meta-learner reads them, `predicted` its predictions, `truth` their scores.
    """

    rows: Floats
    predicted: Floats
    truth: Floats
    metafeatures: Metafeatures
    training: RunHistory
    whole_landscape: Callable[[], Landscape]

    @cached_property
    def landscape(self) -> Landscape:
        """Return the landscape of the other data sets; few methods need it, and it is made when the first one asks."""
        whole = self.whole_landscape()
        return whole.keep(k for k, name in enumerate(whole.datasets) if name in self.training.datasets)

    @cached_property
    def levels(self) -> Floats:
        """Return the level of each configuration on each other data set."""
        return self.landscape.levels_at(self.rows)

    @property
    def of_nearest(self) -> Sequence[int]:
        """Return what is nearest to the best configuration of each other data set, that of the most similar first."""
        order = nearest_datasets(self.training, self.metafeatures, self.training.n_datasets)
        return self._best_of([int(place) for place in order])

    @property
    def of_most_alike(self) -> Sequence[int]:
        """Return the same, with the data set first on which the order of configurations is most similar."""
        similarity = np.array([kendall(level, self.truth) for level in self.levels])
        names = [self.landscape.datasets[place] for place in best_k(similarity, len(similarity))]
        return self._best_of([self.training.datasets.index(name) for name in names])

    def rank(self, rows: Floats) -> Floats:
        """Return the meta-learner's predictions for rows of the pool."""
        known = dict(zip((row.tobytes() for row in self.rows), self.predicted, strict=True))
        return np.array([known[row.tobytes()] for row in rows])

    def _best_of(self, order: Sequence[int]) -> list[int]:
        places = [own for position in order if len(own := self.training.places[position])]
        best = [int(own[int(np.argmax(self.training.scores[own]))]) for own in places]
        mine = np.nan_to_num(self.rows, nan=-0.5)
        wanted = np.nan_to_num(self.training.rows[best], nan=-0.5)
        return [int(np.argmin(((mine - row) ** 2).sum(axis=1))) for row in wanted]


class LandscapeOf:
    """Makes the landscape of a history once, when it is first asked for; also in another process."""

    def __init__(self, history: RunHistory, seed: int) -> None:
        self.history = history
        self.seed = seed
        self._made: Landscape | None = None

    def __call__(self) -> Landscape:
        """Return the landscape of all data sets."""
        if self._made is None:
            self._made = make_landscape(self.history.thinned(LANDSCAPE_RUNS, self.seed), n_grid=1000, seed=self.seed)
        return self._made


def what_others_say(
    pools: Sequence[RecordedRuns],
    *,
    metafeatures: pd.DataFrame | None = None,
    learner: str = "thesis",
    log: Sequence[str] = (),
    seed: int = 0,
) -> dict[str, OtherDatasets]:
    """Return for each data set what the others say, learnt in ten parts; the pools are of one algorithm.

    `metafeatures` has a row for each data set; without it, configurations alone are learnt from. Raises BadRequest if
    there are too few data sets.
    """
    if len(pools) < LEAST_DATASETS:
        raise BadRequest(
            f"The runs of {pools[0].algorithm} are on {len(pools)} data sets, too few to learn from others. "
            f"Give runs on at least {LEAST_DATASETS}, or leave out starts and 'blended'."
        )
    history = history_of(pools, metafeatures=metafeatures, log=log)
    landscape = LandscapeOf(history, seed)
    found: dict[str, OtherDatasets] = {}
    for part in leave_out_parts(history.datasets, N_PARTS, seed):
        training = history.without(part)
        fitted = LEARNERS[learner](seed).fit(training.thinned(LEARNER_RUNS, seed))
        for position in part:
            places, described = history.places[position], history.metafeatures_of(position)
            rows = history.rows[places]
            found[history.datasets[position]] = OtherDatasets(
                rows,
                fitted.predict_rows(rows, described),
                history.scores[places],
                described,
                training,
                landscape,
            )
    return found


def history_of(
    pools: Sequence[RecordedRuns],
    *,
    metafeatures: pd.DataFrame | None = None,
    log: Sequence[str] = (),
) -> RunHistory:
    """Return recorded runs as a history; the runs of a data set keep their order."""
    return make_history(
        pools[0].algorithm,
        "recorded",
        datasets=[pool.dataset for pool in pools],
        groups=np.repeat(np.arange(len(pools)), [len(pool.configs) for pool in pools]),
        configs=[config for pool in pools for config in pool.configs],
        scores=np.concatenate([pool.scores for pool in pools]),
        metafeatures=metafeatures,
        log=log,
        most_per_dataset=None,
    )
