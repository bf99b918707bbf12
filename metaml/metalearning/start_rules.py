"""Which configurations to evaluate first on a new data set (van Hoof 2018, sections 6.4 and 6.5).

Each function returns positions in a list of candidates, the first to be evaluated first, or configurations where the
candidates are those of the knowledge base. The algorithm's own default always has a place: see `with_default`.
"""

from collections.abc import Sequence

import numpy as np

from metaml.metalearning.assessment.neighbours import nearest
from metaml.metalearning.assessment.quality import kendall
from metaml.metalearning.history import RunHistory
from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.scales import Array, unit_interval
from metaml.spaces.config import Config

DELTAS = tuple(round(0.1 * step, 1) for step in range(10))
"""What eq. 6.2 is tried with, in this order, until enough distinct configurations are found."""


def best_k(predicted: Array, k: int = 3) -> list[int]:
    """Return the candidates with the highest predictions.

    >>> best_k(np.array([0.2, 0.9, 0.5]), 2)
    [1, 2]
    """
    return [int(place) for place in np.argsort(-predicted, kind="stable")[:k]]


def worst_k(predicted: Array, k: int = 3) -> list[int]:
    """Return the candidates with the lowest predictions: the thesis' "bad-starting", a control.

    >>> worst_k(np.array([0.2, 0.9, 0.5]), 2)
    [0, 2]
    """
    return best_k(-predicted, k)


def delta_score(predicted: Array, delta: float) -> Array:
    """Return eq. 6.2 of van Hoof (2018), (1 - p)^delta + p, for predictions in [0, 1]; higher is better.

    With `delta` = 0 the order is that of `predicted`; larger values favour candidates below the best.

    >>> delta_score(np.array([0.0, 0.5, 1.0]), 0.5).round(3).tolist()
    [1.0, 1.207, 1.0]
    """
    score: Array = (1 - predicted) ** delta + predicted
    return score


def delta_k(predicted: Array, k: int = 3) -> list[int]:
    """Return the best candidate by eq. 6.2 for delta = 0, 0.1, ... 0.9, the first `k` distinct ones.

    If they run out, the next best predictions follow.
    """
    scaled = unit_interval(predicted)
    found = [int(np.argmax(delta_score(scaled, delta))) for delta in DELTAS]
    return list(dict.fromkeys([*found, *best_k(predicted, k + len(DELTAS))]))[:k]


def knn_k(history: RunHistory, metafeatures: Metafeatures, k: int = 3) -> list[Config]:
    """Return the best configuration of each of the `k` data sets nearest by metafeatures: KNN-k."""
    return _best_of(history, [int(place) for place in nearest(history, metafeatures, history.n_datasets)], k)


def opt_k(history: RunHistory, levels: Array, truth: Array, k: int = 3) -> list[Config]:
    """Return the best configuration of each of the `k` data sets that truly are most similar: OPT-k.

    `levels` has a row for each data set and a column for each candidate, `truth` the candidates' scores on the new
    data set, known in a simulation only: what KNN-k could reach at best.
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
    levels: Array, k: int = 3, *, given: Sequence[int] = (), weights: Array | None = None
) -> list[int]:
    """Return candidates that together do well on many data sets, chosen greedily (Feurer et al. 2022, section 3.1).

    `levels` has a row for each data set and a column for each candidate. Each row is stretched to [0, 1], and each
    choice makes the mean, over data sets, of the best level so far as high as possible. Those `given` come first,
    completed to `k`. With `weights` some data sets count more.

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
    """Return starts among which the algorithm's default is, at `place` unless it comes earlier anyway.

    The second place: the knowledge base is not trusted with all of the first three, nor is the first given away.

    >>> with_default([{"a": 1}, {"a": 2}], {"a": 0})
    [{'a': 1}, {'a': 0}, {'a': 2}]
    """
    starts = [dict(config) for config in configs]
    if default is None or default in starts[: place + 1]:
        return starts
    starts = [config for config in starts if config != default]
    return [*starts[:place], dict(default), *starts[place:]]
