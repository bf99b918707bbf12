"""The trials that an ensemble may choose from: the best of all and the best of each algorithm, duplicates once."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from metaml.ensemble.pool import MOST_EACH, distinct, n_each_for, pool
from metaml.pareto import is_non_dominated
from metaml.tuning.trials import Trial, ranked

N_BEST = 8
"""The best trials that selection looks at, whatever their algorithm."""

N_BEST_KEPT = 20
"""Out-of-fold predictions and fold models are kept of this many best runs, of the best of each algorithm, of what may
feed a second layer, and of what is on the front."""

LEAST_BREADTH = 12
"""Complete evaluations before any time is kept for depth: repeats and a second layer."""


def is_broad(trials: Sequence[Trial]) -> bool:
    """Return whether enough was tried for depth to pay: what was never tried cannot be repeated or stacked."""
    return len(ranked(trials)) >= LEAST_BREADTH


def candidates_of(trials: Sequence[Trial], n_rows: int) -> list[Trial]:
    """Return the candidates among complete trials that have predictions, best first; `n_rows` rows were tested."""
    names = [f"{trial.layer} {trial.run.algorithm}" for trial in trials]
    scores = [trial.score for trial in trials]
    offered = [trials[place] for place in pool(names, scores, n_best=N_BEST, n_each=n_each_for(n_rows))]
    return [offered[place] for place in distinct([np.asarray(trial.outcome.predictions) for trial in offered])]


def without_weak(trials: Sequence[Trial], is_base: Callable[[Trial], bool]) -> tuple[list[Trial], set[str]]:
    """Return the trials, those that no ensemble will choose without predictions, and the identities of the others.

    `is_base` says whether a trial may feed a second layer.
    """
    complete = ranked(trials)
    on_front = {trial.run.identity for trial in front_of(complete)}
    names, scores = [trial.run.algorithm for trial in complete], [trial.score for trial in complete]
    best = {complete[place].run.identity for place in pool(names, scores, n_best=N_BEST_KEPT, n_each=MOST_EACH)}
    kept = {id(trial) for trial in complete if trial.run.identity in best | on_front or is_base(trial)}
    smaller = [
        trial
        if id(trial) in kept or trial.outcome.predictions is None
        else replace(trial, outcome=replace(trial.outcome, predictions=None))
        for trial in trials
    ]
    return smaller, {trial.run.identity for trial in complete if id(trial) in kept}


def least_score(algorithm: str, trials: Sequence[Trial]) -> float:
    """Return the score below which no further trial of an algorithm is kept for what it scores."""
    complete = ranked(trials)
    own = [trial for trial in complete if trial.run.algorithm == algorithm]
    if len(complete) < N_BEST_KEPT or len(own) < MOST_EACH:
        return -math.inf
    return min(complete[N_BEST_KEPT - 1].score, own[MOST_EACH - 1].score)


def front_of(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials of which a point, at any threshold, is on the front of all; none if no front is searched."""
    points = [
        (place, point)
        for place, trial in enumerate(trials)
        for point in (trial.scores[1:], *trial.curve)
        if len(trial.scores) > 1
    ]
    if not points:
        return []
    is_on_front = is_non_dominated(-np.array([point for _, point in points]))
    places = dict.fromkeys(place for (place, _), flag in zip(points, is_on_front, strict=True) if flag)
    return [trials[place] for place in places]
