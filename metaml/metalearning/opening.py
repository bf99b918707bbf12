"""The first evaluations on a new data set: configurations of any algorithm that together do well on data sets like it.

A portfolio as in TabRepo (Salinas & Erickson 2024) and auto-sklearn 2 (Feurer et al. 2022), but chosen for the data set
at hand: data sets that are like it count more, the meta-learner's favourites are among the candidates, and under a time
budget what is expected to take long must promise more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaml.acquisition.candidates import key_of
from metaml.config import Config
from metaml.metalearning.advice import candidates_of
from metaml.metalearning.experience import LEAST_DATASETS, Prior
from metaml.metalearning.learner import Metafeatures
from metaml.metalearning.lessons import Lessons
from metaml.metalearning.runs import facts_of
from metaml.metalearning.scales import Array
from metaml.metalearning.warmstart import best_k, portfolio
from metaml.spaces import Space

N_DRAWN = 200
N_FAVOURITES = 3
N_COVERING = 3
HALF_WEIGHT = 20
"""The data set at this place in the order of likeness counts half as much as the nearest."""
WORST_SHARE = 0.5
"""Scores below this quantile of the candidates on a data set are all equally bad there."""
LONGEST_SHARE = 0.2
FREE_SHARE = 0.02
"""A move may be expected to take a fifth of the budget at most; below a fiftieth, seconds do not count."""


@dataclass(frozen=True)
class Move:
    """A configuration to evaluate, with the seconds it is expected to take (NaN if nothing is known)."""

    algorithm: str
    config: Config
    seconds: float


def candidates(
    lessons: Lessons, priors: Mapping[str, Prior], spaces: Mapping[str, Space], *, seed: int = 0
) -> dict[str, list[Config]]:
    """Return what may open, by algorithm: its default, its favourites here, and those that cover most data sets."""
    found = {}
    for name, prior in priors.items():
        drawn = candidates_of(spaces[name], seed=seed, n=N_DRAWN)
        rows = lessons.trained[name].learner.encoder_.transform(drawn, facts_of(prior.metafeatures))
        favourites = best_k(prior.points(rows).mean, N_FAVOURITES)
        levels = prior.landscape.levels_at(rows)
        chosen = portfolio(levels, N_FAVOURITES + N_COVERING, given=favourites) if len(levels) else favourites
        every = [spaces[name].default(), *(drawn[place] for place in chosen)]
        found[name] = list({key_of(config): config for config in every}.values())
    return found


def opening(
    lessons: Lessons,
    priors: Mapping[str, Prior],
    spaces: Mapping[str, Space],
    metafeatures: Metafeatures,
    *,
    n: int,
    given: Sequence[tuple[str, Config]] = (),
    budget_seconds: float | None = None,
    reference_seconds: float | None = None,
    seed: int = 0,
) -> list[Move]:
    """Return `n` moves, the first to be made first: those `given`, then what adds most to them.

    Without a budget in seconds, what a move takes does not matter: the order is then the same on every machine.
    """
    usable = {name: prior for name, prior in priors.items() if prior.n_datasets >= LEAST_DATASETS}
    if not usable:
        return []
    by_algorithm = candidates(lessons, usable, spaces, seed=seed)
    for algorithm, config in given:
        if algorithm in by_algorithm and config not in by_algorithm[algorithm]:
            by_algorithm[algorithm].append(config)
    moves = [
        Move(name, config, float(seconds))
        for name, configs in by_algorithm.items()
        for config, seconds in zip(
            configs,
            lessons.runtimes[name].predict(configs, metafeatures, reference_seconds=reference_seconds),
            strict=True,
        )
    ]
    datasets, scores = _scores(lessons, usable, by_algorithm)
    levels = _levels(scores)
    weights = _likeness(lessons, datasets, metafeatures)
    costs = _costs(moves, budget_seconds)
    places = {(move.algorithm, key_of(move.config)): k for k, move in enumerate(moves)}
    first = [places[name, key_of(config)] for name, config in given if (name, key_of(config)) in places]
    return [moves[k] for k in greedy(levels, weights, costs, n, given=first)]


def greedy(levels: Array, weights: Array, costs: Array, n: int, *, given: Sequence[int] = ()) -> list[int]:
    """Return the candidates (columns) that raise the weighted mean, over rows, of the best level most for their cost.

    Those given come first, and what they reach counts as reached. There are fewer than `n` where nothing that is left
    promises more, or all of it takes too long.

    >>> greedy(np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.9]]), np.array([1.0, 1.0]), np.ones(3), 2)
    [2, 0]
    """
    share = weights / weights.sum()
    chosen = list(given)
    reached = levels[:, chosen].max(axis=1, initial=0.0)
    while len(chosen) < min(n, levels.shape[1]):
        value = share @ np.maximum(levels - reached[:, np.newaxis], 0.0) / costs
        value[chosen] = 0.0
        place = int(np.argmax(value))
        if not value[place] > 0:
            break
        chosen.append(place)
        reached = np.maximum(reached, levels[:, place])
    return chosen


def _scores(
    lessons: Lessons, priors: Mapping[str, Prior], by_algorithm: Mapping[str, Sequence[Config]]
) -> tuple[list[str], Array]:
    """Return the data sets, and where each candidate is expected to have been there; NaN if nobody knows."""
    datasets = sorted({print_ for prior in priors.values() for print_ in prior.landscape.datasets})
    place = {print_: k for k, print_ in enumerate(datasets)}
    blocks = []
    for name, prior in priors.items():
        facts = facts_of(prior.metafeatures)
        rows = lessons.trained[name].learner.encoder_.transform(by_algorithm[name], facts)
        landscape = prior.landscape
        block = np.full((len(datasets), len(rows)), np.nan)
        block[[place[print_] for print_ in landscape.datasets]] = landscape.levels_at(rows)
        blocks.append(block)
    return datasets, np.hstack(blocks)


def _levels(scores: Array) -> Array:
    """Return scores stretched, on each data set, from the candidates' median (0) to their best (1)."""
    top = np.nanmax(scores, axis=1, keepdims=True)
    low = np.nanquantile(scores, WORST_SHARE, axis=1, keepdims=True)
    span = np.where(top > low, top - low, 1.0)
    levels = np.clip((scores - low) / span, 0.0, 1.0)
    # Where nobody ran an algorithm its candidates are as they are elsewhere.
    filled: Array = np.where(np.isnan(levels), np.nanmean(levels, axis=0, keepdims=True), levels)
    return filled


def _likeness(lessons: Lessons, datasets: Sequence[str], metafeatures: Metafeatures) -> Array:
    """Return how much each data set counts: the more, the nearer its metafeatures."""
    from metaml.metafeatures.similarity import nearest

    table = lessons.metafeatures.reindex(list(datasets))
    order = [print_ for print_, _ in nearest(dict(metafeatures), table, n=len(datasets))]
    rank = {print_: k for k, print_ in enumerate(order)}
    return np.array([1 / (1 + rank.get(print_, len(datasets)) / HALF_WEIGHT) for print_ in datasets])


def _costs(moves: Sequence[Move], budget_seconds: float | None) -> Array:
    if budget_seconds is None:
        return np.ones(len(moves))
    seconds = np.array([move.seconds for move in moves])
    usual = float(np.nanmedian(seconds)) if np.isfinite(seconds).any() else 1.0
    seconds = np.where(np.isfinite(seconds), seconds, usual)
    costs: Array = np.sqrt(np.maximum(seconds, FREE_SHARE * budget_seconds))
    return np.where(seconds > LONGEST_SHARE * budget_seconds, np.inf, costs)
