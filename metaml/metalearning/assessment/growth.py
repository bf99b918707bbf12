"""The value of a larger knowledge base: regret after a few evaluations, by the number of data sets in it."""

from collections.abc import Sequence

import numpy as np

from metaml.acquisition.committee import Committee, Expert
from metaml.arrays import Floats
from metaml.metalearning.committee import ExperienceCommittee
from metaml.metalearning.history import RunHistory, leave_out_parts
from metaml.metalearning.landscape import make_landscape
from metaml.metalearning.meta_learner import MetaLearner
from metaml.metalearning.prior import Prior

SIZES = (0, 5, 20, 50)


def growth_curve(
    history: RunHistory,
    experts: tuple[Expert, ...],
    *,
    sizes: Sequence[int] = SIZES,
    n_evaluations: int = 10,
    n_folds: int = 10,
    most_tasks: int | None = None,
    recipe: str = "simple",
    seed: int = 0,
) -> dict[int, list[float]]:
    """Return, for each size and for all data sets, the regret on each left-out data set in per cent of its range.

    A knowledge base of a given size is a random sample of the other data sets. With size 0, the search starts with a
    random configuration and uses the experts (surrogates) only.
    """
    landscape = make_landscape(history, seed=seed)
    parts = list(leave_out_parts(history.datasets, n_folds, seed))
    largest = min(history.n_datasets - len(part) for part in parts) if parts else 0
    wanted = [*(size for size in sizes if size < largest), largest]
    tested = set(np.random.default_rng(seed).permutation(history.n_datasets)[:most_tasks].tolist())
    regrets: dict[int, list[float]] = {size: [] for size in wanted}
    for number, part in enumerate(parts):
        others = [k for k in range(history.n_datasets) if k not in part]
        for size in wanted:
            known = np.random.default_rng((seed, number)).permutation(others)[:size].tolist()
            names = {history.datasets[k] for k in known}
            rest = landscape.keep(k for k, fingerprint in enumerate(landscape.datasets) if fingerprint in names)
            learner = MetaLearner(recipe, seed=seed).fit(history.keep(known).thinned(100, seed))
            for k in part:
                places = history.places[k]
                rows, scores = history.rows[places], history.scores[places]
                if k not in tested or len(scores) <= n_evaluations or np.ptp(scores) == 0:
                    continue
                rng = np.random.default_rng((seed, k))
                predicted = learner.predict_rows(rows, history.metafeatures_of(k))
                start = int(np.argmax(predicted)) if known else int(rng.integers(len(rows)))
                judge = Committee(experts)
                if rest.n_datasets:
                    judge = ExperienceCommittee(Prior(learner, rest, history.metafeatures_of(k)), experts)
                regrets[size].append(search_regret(rows, scores, judge, start, n_evaluations, rng))
    return regrets


def search_regret(
    rows: Floats, scores: Floats, judge: Committee, start: int, n: int, rng: np.random.Generator
) -> float:
    """Return the regret of `n` evaluations chosen by `judge`, in per cent of the range of scores."""
    order = [start]
    while len(order) < n:
        judge.fit(rows[order], scores[order], np.full(len(order), np.nan), int(rng.integers(2**31)))
        values = judge.values(judge.parts(rows))
        values[order] = -np.inf
        order.append(int(np.argmax(values)))
    return float(100 * (scores.max() - scores[order].max()) / np.ptp(scores))
