"""What the knowledge base advises for a data set: which configurations to run first, how long they take, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaml.acquisition.candidates import key_of
from metaml.metalearning.experience import LEAST_DATASETS, Prior
from metaml.metalearning.explain import Explanation, explain, remember
from metaml.metalearning.learner import Metafeatures
from metaml.metalearning.runs import Experience, facts_of
from metaml.metalearning.runtime import RuntimeLearner
from metaml.metalearning.scales import Array
from metaml.metalearning.store import Trained
from metaml.metalearning.warmstart import best_k, portfolio, with_default
from metaml.spaces import Space
from metaml.spaces.config import Config

N_CANDIDATES = 1000


@dataclass(frozen=True)
class Suggestion:
    """A configuration to run, its place among the candidates (1 is best), and what is expected of it.

    `score` is in standard deviations of a data set's scores, 0 being an average configuration. `seconds` is NaN where
    no run has told.
    """

    algorithm: str
    config: Config
    rank: int
    score: float
    seconds: float
    explanation: Explanation


def candidates_of(space: Space, *, seed: int = 0, n: int = N_CANDIDATES, also: Sequence[Config] = ()) -> list[Config]:
    """Return what can be suggested: the default, valid configurations that did well elsewhere, and random ones."""
    known = [config for config in also if space.is_valid(config)]
    every = [space.default(), *known, *space.sample(n, np.random.default_rng(seed))]
    return list({key_of(config): config for config in every}.values())


def proven(experience: Experience, per_dataset: int = 2) -> list[Config]:
    """Return the best configurations of each data set."""
    found = []
    for places in experience.places:
        best = places[np.argsort(-experience.scores[places], kind="stable")[:per_dataset]]
        found += [dict(experience.configs[k]) for k in best]
    return found


def first_configs(
    trained: Trained, candidates: Sequence[Config], metafeatures: Metafeatures, *, default: Config | None, k: int = 2
) -> list[Config]:
    """Return what to evaluate first on a new data set: the favourite, then the algorithm's own default.

    With a larger `k`, a portfolio that covers what the favourite does not completes them; measured, it is better to let
    the optimiser decide from the second evaluation on. With fewer than ten data sets the default goes first, and
    without any experience it is all there is.
    """
    if not candidates or not trained.learner.members_:
        return with_default([], default)
    favourite = best_k(_scores(trained, candidates, metafeatures), 1)
    if trained.landscape.n_datasets < LEAST_DATASETS:
        return with_default([candidates[place] for place in favourite], default, place=0)
    rows = trained.learner.encoder_.transform(candidates, facts_of(metafeatures))
    n = k if default is None else k - 1
    chosen = portfolio(trained.landscape.levels_at(rows), n, given=favourite) if n > 1 else favourite
    return with_default([candidates[place] for place in chosen], default)


def suggest(
    trained: Trained,
    candidates: Sequence[Config],
    metafeatures: Metafeatures,
    *,
    n: int = 10,
    runtime: RuntimeLearner | None = None,
    reference_seconds: float | None = None,
    experience: Experience | None = None,
) -> list[Suggestion]:
    """Return the `n` candidates that rank highest, with reasons; the runs that carry them come from `experience`."""
    if not candidates:
        return []
    scores = _scores(trained, candidates, metafeatures)
    order = best_k(scores, n)
    chosen = [candidates[place] for place in order]
    seconds = np.full(len(chosen), np.nan)
    if runtime is not None:
        seconds = runtime.predict(chosen, metafeatures, reference_seconds=reference_seconds)
    memory = None if experience is None else remember(trained.learner, experience)
    return [
        Suggestion(
            trained.algorithm,
            dict(config),
            rank,
            float(scores[place]),
            float(second),
            explain(trained.learner, config, metafeatures, memory=memory),
        )
        for rank, (place, config, second) in enumerate(zip(order, chosen, seconds, strict=True), start=1)
    ]


def _scores(trained: Trained, candidates: Sequence[Config], metafeatures: Metafeatures) -> Array:
    if trained.landscape.n_datasets < LEAST_DATASETS:
        return trained.learner.predict(candidates, metafeatures)
    rows = trained.learner.encoder_.transform(candidates, facts_of(metafeatures))
    return Prior(trained.learner, trained.landscape, metafeatures).points(rows).mean
