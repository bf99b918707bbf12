"""A committee whose prior is the knowledge base: known data sets predict the score of a configuration.

It scores candidates in place of a committee of surrogates, so any optimizer and any source of candidates can use it.
If the knowledge base knows too few data sets, or if its predictions turn out wrong, the surrogates take over.
"""

from collections.abc import Collection
from typing import Self

import numpy as np

from metaml.acquisition import COST_ACQUISITIONS, rule_named
from metaml.acquisition.candidates import SpaceCandidates
from metaml.acquisition.committee import Belief, Committee, Expert, settled
from metaml.acquisition.cube import Cube
from metaml.arrays import Floats
from metaml.encoding import Encoder, Facts
from metaml.metalearning.guard import Guard
from metaml.metalearning.history import LEAST_DATASETS
from metaml.metalearning.prior import Prior
from metaml.metalearning.scales import as_scored, comparable
from metaml.metalearning.transfer_gp import Beliefs, ExperienceProcess
from metaml.spaces import Space
from metaml.surrogates.base import normal_prediction
from metaml.surrogates.duration import Duration

FIRST_TURN = 8
"""From this number of evaluations on, the surrogates get their own turns; before, they know too little."""


class ExperienceCommittee(Committee):
    """Scores candidates by expected improvement under a Gaussian process whose prior is the knowledge base.

    Rows must be encoded by the encoder of the run history: see `ExperienceCandidates`. The `metric` is needed to make
    scores comparable with those of other data sets. The `experts` (surrogates of this data set alone) are used instead
    if the prior has fewer than ten data sets, or while the guard finds that the prior contradicts the observations.
    After eight evaluations they also get every third turn, to find what no known data set has shown. A `rule` replaces
    expected improvement.
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
        rule: str = "",
        experts_every: int = 3,
    ) -> None:
        super().__init__(experts, cost=cost)
        self.metric = metric
        self.prior = prior
        self._rule = rule_named(rule) if rule else None
        self.guard = guard or Guard()
        self.beliefs = beliefs
        self.experts_every = experts_every
        self.is_experienced = prior.n_datasets >= LEAST_DATASETS

    @property
    def notes(self) -> list[str]:
        """Return sentences for the report: why the knowledge base was not used, or when it was switched off."""
        if self.prior.n_datasets < LEAST_DATASETS:
            n = self.prior.n_datasets
            return [
                f"The knowledge base knows {n} data sets of this kind, fewer than {LEAST_DATASETS}: it has no vote."
            ]
        return [str(verdict) for verdict in self.guard.verdicts]

    def fit(self, X: Floats, y: Floats, seconds: Floats, seed: int) -> Self:
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

    def parts(self, X: Floats) -> Floats:
        """Return the predictions for each row: mean, std, expected improvement and seconds."""
        if not self.is_experienced:
            return super().parts(X)
        seconds = np.full(len(X), np.nan) if self._duration is None else self._duration.predict(X)
        return np.column_stack([*self._process.predict(self.prior.points(X)), seconds])

    def values(self, parts: Floats) -> Floats:
        """Return one value for each row, higher is better."""
        if not self.is_experienced:
            return super().values(parts)
        mean, std, improvement, seconds = (parts[:, k] for k in range(4))
        is_timed = self.cost is not None and self._duration is not None
        if not is_timed and self._rule is None:
            return settled(improvement)
        belief = normal_prediction(mean, np.maximum(std, 1e-12))
        if self.cost is not None and is_timed:
            return settled(COST_ACQUISITIONS[self.cost](belief, self._best, seconds))
        return settled(improvement if self._rule is None else self._rule(belief, self._best))

    def bounds(self, parts: Floats, width: float) -> Floats:
        """Return the confidence bound of each row, `width` deviations above its mean."""
        if not self.is_experienced:
            return super().bounds(parts, width)
        return settled(parts[:, 0] + width * parts[:, 1])

    def believe(self, row: Floats) -> Belief:
        """Return the prediction for one row, in the unit of the scores."""
        if not self.is_experienced:
            return super().believe(row)
        found, spread, _ = self._process.predict(self.prior.points(row[np.newaxis]))
        mean, std = as_scored(found, spread, self.metric)
        seconds = None if self._duration is None else float(self._duration.predict(row[np.newaxis])[0])
        return Belief(float(mean[0]), float(std[0]), seconds)


class ExperienceCandidates(SpaceCandidates):
    """Points of a space, encoded like the runs of the knowledge base."""

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
