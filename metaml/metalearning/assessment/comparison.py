"""Compares rankings on data sets that were left out, as shown by `metaml learn --evaluate`."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from metaml.arrays import Floats
from metaml.metalearning.assessment.learners import LEARNERS, Learner
from metaml.metalearning.assessment.quality import Quality, cross_validate, looked_at
from metaml.metalearning.history import RunHistory, leave_out_parts
from metaml.metalearning.landscape import Landscape, make_landscape
from metaml.metalearning.meta_learner import MetaLearner
from metaml.metalearning.rank_correlation import kendall
from metaml.metalearning.transfer_gp import ExperienceProcess, Points

RANKINGS: Mapping[str, Callable[[int], Learner]] = {"both": LEARNERS["default"], **LEARNERS}
"""The rankings that can be compared: every meta-learner. `both` learns from hyperparameters and metafeatures."""
USUAL_RANKINGS = ("both", "hyperparameters", "metafeatures", "neighbours")
LOOKS_UP = ("neighbours", "nearest_lightgbm")
"""Those that look runs up on similar data sets, and so need all of them."""
PER_DATASET = 100
"""Runs of each data set that a meta-learner is trained on; with more it is no better."""


def compare_rankings(
    history: RunHistory, rankings: Sequence[str] = USUAL_RANKINGS, *, n_folds: int | None = 10, seed: int = 0
) -> dict[str, Quality]:
    """Return Kendall's tau-b of each ranking on each data set, learnt without that data set.

    Metafeatures alone predict the same score for all configurations of a data set: their tau is 0 by definition.
    """

    def learn(name: str) -> Callable[[RunHistory], Callable[[RunHistory, int], Floats]]:
        def rank(training: RunHistory) -> Callable[[RunHistory, int], Floats]:
            model = RANKINGS[name](seed).fit(training)
            return lambda whole, k: model.predict_rows(whole.rows[whole.places[k]], whole.metafeatures_of(k))

        return rank

    return {
        name: cross_validate(history, learn(name), n_folds=n_folds, most_per_dataset=_most_runs(name), seed=seed)
        for name in rankings
    }


def _most_runs(ranking: str) -> int | None:
    """Return how many runs of a data set a ranking learns from; None is all of them."""
    return None if ranking in LOOKS_UP else PER_DATASET


def compare_after(
    history: RunHistory,
    evaluations: Sequence[int] = (5, 10),
    *,
    n_folds: int = 10,
    n_draws: int = 2,
    landscape: Landscape | None = None,
    recipe: str = "default",
    seed: int = 0,
) -> dict[int, Quality]:
    """Return tau-b of `ExperienceProcess` on each left-out data set, after some random evaluations there."""
    landscape = landscape or make_landscape(history, seed=seed)
    taus: dict[int, dict[str, float]] = {n: {} for n in evaluations}
    for part in leave_out_parts(history.datasets, n_folds, seed):
        gone = {history.datasets[k] for k in part}
        rest = landscape.keep(k for k, fingerprint in enumerate(landscape.datasets) if fingerprint not in gone)
        if not rest.n_datasets:
            continue
        learner = MetaLearner(recipe, seed=seed).fit(history.without(part).thinned(PER_DATASET, seed))
        for k in part:
            places = history.places[k]
            rows, scores = history.rows[places], history.scores[places]
            if len(places) < max(evaluations) + 2 or np.ptp(scores) == 0:
                continue
            points = Points(rows, rest.at(rows)[1], learner.predict_rows(rows, history.metafeatures_of(k)))
            for n in evaluations:
                found = []
                for draw in range(n_draws):
                    seen, hidden = looked_at(len(rows), n, np.random.default_rng((seed, k, draw)))
                    process = ExperienceProcess(rest.log_unit).fit(points.take(seen), scores[seen])
                    found.append(kendall(process.predict(points.take(hidden))[0], scores[hidden]))
                taus[n][history.datasets[k]] = float(np.mean(found))
    return {n: Quality(found) for n, found in taus.items()}
