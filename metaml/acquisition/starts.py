"""Which configurations to evaluate first on a new data set (van Hoof 2018, sections 6.4 and 6.5).

Each function returns positions in a list of candidates in the order of evaluation, or configurations if the candidates
are those of the knowledge base. The algorithm's default is always included: see `with_default`.
"""

from collections.abc import Sequence

import numpy as np

from metaml.arrays import Floats
from metaml.metalearning.dataset_distances import nearest_datasets
from metaml.metalearning.history import RunHistory
from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.rank_correlation import kendall
from metaml.metalearning.scales import unit_interval
from metaml.spaces.config import Config

DELTAS = tuple(round(0.1 * step, 1) for step in range(10))
"""Values of delta in eq. 6.2, tried in this order until enough distinct configurations are found."""


def best_k(predicted: Floats, k: int = 3) -> list[int]:
    """Return the candidates with the highest predictions.

    >>> best_k(np.array([0.2, 0.9, 0.5]), 2)
    [1, 2]
    """
    return [int(place) for place in np.argsort(-predicted, kind="stable")[:k]]


def worst_k(predicted: Floats, k: int = 3) -> list[int]:
    """Return the candidates with the lowest predictions: the thesis' "bad-starting", a control.

    >>> worst_k(np.array([0.2, 0.9, 0.5]), 2)
    [0, 2]
    """
    return best_k(-predicted, k)


def delta_score(predicted: Floats, delta: float) -> Floats:
    """Return eq. 6.2 of van Hoof (2018), (1 - p)^delta + p, for predictions in [0, 1]; higher is better.

    With `delta` = 0 the order is that of `predicted`; larger values favour candidates below the best.

    >>> delta_score(np.array([0.0, 0.5, 1.0]), 0.5).round(3).tolist()
    [1.0, 1.207, 1.0]
    """
    score: Floats = (1 - predicted) ** delta + predicted
    return score


def delta_k(predicted: Floats, k: int = 3) -> list[int]:
    """Return the best candidate by eq. 6.2 for delta = 0, 0.1, ... 0.9, the first `k` distinct ones.

    If they run out, the next best predictions follow.
    """
    scaled = unit_interval(predicted)
    found = [int(np.argmax(delta_score(scaled, delta))) for delta in DELTAS]
    return list(dict.fromkeys([*found, *best_k(predicted, k + len(DELTAS))]))[:k]


def knn_k(history: RunHistory, metafeatures: Metafeatures, k: int = 3) -> list[Config]:
    """Return the best configuration of each of the `k` data sets nearest by metafeatures: KNN-k."""
    order = nearest_datasets(history, metafeatures, history.n_datasets)
    return _best_of(history, [int(place) for place in order], k)


def opt_k(history: RunHistory, levels: Floats, truth: Floats, k: int = 3) -> list[Config]:
    """Return the best configuration of each of the `k` truly most similar data sets: OPT-k.

    `levels` has a row for each data set and a column for each candidate, `truth` the candidates' scores on the new
    data set, which are only known in a simulation. It is the upper bound of KNN-k.
    """
    similarity = np.array([kendall(level, truth) for level in levels])
    return _best_of(history, best_k(similarity, len(similarity)), k)


def _best_of(history: RunHistory, order: Sequence[int], k: int) -> list[Config]:
    found: dict[str, Config] = {}
    for position in order:
        places = history.places[position]
        if len(places):
            config = history.configs[int(places[int(np.argmax(history.scores[places]))])]
            found.setdefault(repr(sorted(config.items())), dict(config))
    return list(found.values())[:k]


def greedy_portfolio(
    levels: Floats, k: int = 3, *, given: Sequence[int] = (), weights: Floats | None = None
) -> list[int]:
    """Return candidates that together do well on many data sets, chosen greedily (Feurer et al. 2022, section 3.1).

    `levels` has a row for each data set and a column for each candidate. Each row is scaled to [0, 1]. Each
    step adds the candidate that most raises the mean, over data sets, of the best level so far. Those `given` come
    first and count towards `k`. With `weights` some data sets count more.

    >>> greedy_portfolio(np.array([[3.0, 0.0, 2.0], [0.0, 30.0, 20.0]]), 2)
    [2, 0]
    """
    levels = np.stack([unit_interval(level) for level in levels]) if len(levels) else levels
    share = np.ones(len(levels)) if weights is None else weights
    share = share / share.sum()
    chosen = [int(place) for place in given][:k]
    reached = levels[:, chosen].max(axis=1, initial=-np.inf)
    while len(chosen) < min(k, levels.shape[1]):
        value = share @ np.maximum(levels, reached[:, np.newaxis])
        value[chosen] = -np.inf
        place = int(np.argmax(value))
        chosen.append(place)
        reached = np.maximum(reached, levels[:, place])
    return chosen


def with_default(configs: Sequence[Config], default: Config | None, *, place: int = 1) -> list[Config]:
    """Return the starts with the algorithm's default inserted at `place`, unless it comes earlier.

    It is the second by default: the first start is from the knowledge base, but not all of the first three are.

    >>> with_default([{"a": 1}, {"a": 2}], {"a": 0})
    [{'a': 1}, {'a': 0}, {'a': 2}]
    """
    starts = [dict(config) for config in configs]
    if default is None or default in starts[: place + 1]:
        return starts
    starts = [config for config in starts if config != default]
    return [*starts[:place], dict(default), *starts[place:]]
