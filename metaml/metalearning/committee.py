"""The optimiser that starts with experience: after a few evaluations, the data sets of the knowledge base say how the
other configurations will do.

It judges candidates in place of a committee of surrogates, so that any optimizer and any source of candidates can use
it. Where there is little experience, or where experience misleads, the committee it replaces takes over.
"""

from collections.abc import Collection
from typing import Self

import numpy as np

from metaml.acquisition import COST_ACQUISITIONS
from metaml.acquisition.candidates import SpaceCandidates
from metaml.acquisition.committee import Belief, Committee, Expert, settled
from metaml.acquisition.cube import Cube
from metaml.encoding import Encoder, Facts
from metaml.metalearning.guard import Guard
from metaml.metalearning.landscape import Landscape
from metaml.metalearning.meta_learner import Metafeatures, MetaLearner
from metaml.metalearning.scales import Array, as_scored, comparable
from metaml.metalearning.transfer_gp import Beliefs, ExperienceProcess, Points
from metaml.spaces import Space
from metaml.surrogates.base import normal_prediction
from metaml.surrogates.duration import Duration

LEAST_DATASETS = 10
"""Data sets below which a covariance over data sets says nothing."""
MOST_REMEMBERED = 20_000
FIRST_TURN = 8
"""Evaluations from which on the experts have a turn of their own; before, they know too little."""
FOREST_SHARE = 0.25
"""More helps random forests and harms AdaBoost (openml100-sklearn, 75 tasks)."""


class Prior:
    """What the knowledge base says of a data set before anything was run on it, for any encoded configuration.

    The mean is three parts the meta-learner's and one part that of a forest from metafeatures to the landscape.
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
        """Return the number of data sets the prior rests on."""
        return self.landscape.n_datasets

    def points(self, rows: Array) -> Points:
        """Return the rows as the process sees them; what was computed before is remembered."""
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

    def _compute(self, rows: Array) -> Points:
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


class ExperienceCommittee(Committee):
    """Judges candidates by expected improvement under a process whose prior is the knowledge base.

    The rows it is shown must be encoded by the encoder of the experience: see `ExperienceCandidates`; scores are made
    comparable with those of other data sets, which takes to know their `metric`. The experts judge
    in its place when the prior rests on fewer than ten data sets, and from the evaluation on at which the guard finds
    that the prior does not agree with what was observed. They also have every third turn once eight evaluations are
    known: what no data set of the knowledge base has shown is theirs to find.
    """

    name = "experience"

    def __init__(
        self,
        prior: Prior,
        experts: tuple[Expert, ...],
        *,
        guard: Guard | None = None,
        beliefs: Beliefs | None = None,
        cost: str | None = None,
        metric: str | None = None,
        experts_every: int = 3,
    ) -> None:
        super().__init__(experts, cost=cost)
        self.metric = metric
        self.prior = prior
        self.guard = guard or Guard()
        self.beliefs = beliefs
        self.experts_every = experts_every
        self.is_experienced = prior.n_datasets >= LEAST_DATASETS

    @property
    def notes(self) -> list[str]:
        """Return what a report should say: why experience was not used, or when it was switched off."""
        if self.prior.n_datasets < LEAST_DATASETS:
            n = self.prior.n_datasets
            return [
                f"The knowledge base knows {n} data sets of this kind, fewer than {LEAST_DATASETS}: it has no vote."
            ]
        return [str(verdict) for verdict in self.guard.verdicts]

    def fit(self, X: Array, y: Array, seconds: Array, seed: int) -> Self:
        """Learn from rows, scores and, where known, seconds."""
        if self.prior.n_datasets < LEAST_DATASETS:
            self.is_experienced = False
        else:
            points = self.prior.points(X)
            is_trusted = self.guard.judge(points.mean, y)
            is_turn_of_experts = bool(self.experts_every) and len(y) >= FIRST_TURN and len(y) % self.experts_every == 0
            self.is_experienced = is_trusted and not is_turn_of_experts
        if not self.is_experienced:
            return super().fit(X, y, seconds, seed)
        scores = comparable(y, self.metric)
        self._process = ExperienceProcess(self.prior.landscape.log_unit, self.beliefs).fit(points, scores)
        self._best = float(scores.max())
        known = np.isfinite(seconds)
        self._duration = None
        if self.cost is not None and known.any():
            self._duration = Duration(seed=seed).fit(X[known], seconds[known])
        return self

    def parts(self, X: Array) -> Array:
        """Return what is believed of each row: mean, std, improvement and seconds."""
        if not self.is_experienced:
            return super().parts(X)
        seconds = np.full(len(X), np.nan) if self._duration is None else self._duration.predict(X)
        return np.column_stack([*self._process.predict(self.prior.points(X)), seconds])

    def values(self, parts: Array) -> Array:
        """Return one value for each row, higher is better."""
        if not self.is_experienced:
            return super().values(parts)
        mean, std, improvement, seconds = (parts[:, k] for k in range(4))
        if self.cost is None or self._duration is None:
            return settled(improvement)
        belief = normal_prediction(mean, np.maximum(std, 1e-12))
        return settled(COST_ACQUISITIONS[self.cost](belief, self._best, seconds))

    def believe(self, row: Array) -> Belief:
        """Return what is expected of one row, in the unit of the scores."""
        if not self.is_experienced:
            return super().believe(row)
        found, spread, _ = self._process.predict(self.prior.points(row[np.newaxis]))
        mean, std = as_scored(found, spread, self.metric)
        seconds = None if self._duration is None else float(self._duration.predict(row[np.newaxis])[0])
        return Belief(float(mean[0]), float(std[0]), seconds)


class ExperienceCandidates(SpaceCandidates):
    """Points of a space, encoded as the experience is."""

    def __init__(
        self,
        space: Space,
        encoder: Encoder,
        *,
        facts: Facts | None = None,
        search: str = "neighbours",
        inert: Collection[str] = (),
    ) -> None:
        super().__init__(space, facts=facts, search=search, inert=inert)
        self.encoder = encoder
        self.cube = Cube(space, encoder, facts)
