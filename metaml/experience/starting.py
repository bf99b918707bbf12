"""What experience says of candidates for the first evaluations of an algorithm, as rules for starts read it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.metafeatures.similarity import nearest
from metaml.metalearning.lessons import Lessons
from metaml.metalearning.meta_learner import Metafeatures
from metaml.spaces import Space
from metaml.spaces.config import Config

N_RANDOM = 500
"""Random configurations among the candidates, as many as the thesis draws."""


@dataclass(frozen=True, eq=False)
class KnownCandidates:
    """Recorded configurations of one algorithm, then random ones.

    `levels` are those of the recorded ones on the known data sets, the nearest data set first.
    """

    configs: tuple[Config, ...]
    predicted: Floats
    levels: Floats

    @property
    def of_nearest(self) -> Sequence[int]:
        """Return the best recorded configuration of each known data set, that of the nearest first."""
        return [int(place) for place in self.levels.argmax(axis=1)] if self.levels.size else []

    @property
    def of_most_alike(self) -> Sequence[int]:
        """Raise BadRequest: the order of configurations on a new data set is not known."""
        raise BadRequest("A search cannot start with opt: only recorded runs have the scores that it looks at.")


def known_candidates(lessons: Lessons, algorithm: str, space: Space, metafeatures: Metafeatures) -> KnownCandidates:
    """Return the candidates for the starts of an algorithm on a data set; the same each time."""
    portfolio = lessons.portfolio
    places = [
        place
        for place, (name, config) in enumerate(portfolio.candidates)
        if name == algorithm and space.is_valid(config)
    ]
    recorded = [dict(portfolio.candidates[place][1]) for place in places]
    configs = (*recorded, *space.sample(N_RANDOM, np.random.default_rng(0)))
    learner = lessons.trained[algorithm].learner
    order = [fingerprint for fingerprint, _ in nearest(metafeatures, portfolio.metafeatures, n=portfolio.n_datasets)]
    place_of = {str(fingerprint): place for place, fingerprint in enumerate(portfolio.metafeatures.index)}
    levels = portfolio.levels[[place_of[fingerprint] for fingerprint in order]][:, places]
    return KnownCandidates(configs, learner.predict(configs, metafeatures), levels)
