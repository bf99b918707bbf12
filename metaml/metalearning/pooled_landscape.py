"""Landscapes and scales for a knowledge base that knows little of each data set but knows many of them.

Where an algorithm was run only a few times on a data set, a forest of its own has nothing to go by. The meta-learner
says what to expect there, and a small Gaussian process of what it did not explain corrects it: what is known of the
data set is added to what is known of all. With 8 runs of each data set (openml100-sklearn, random_forest, 25 tasks)
tau-b after 5 evaluations is .61 instead of .52; with 300 the two are equal.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from metaml.metalearning.assessment.comparison import described
from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import Landscape
from metaml.metalearning.meta_learner import MetaLearner
from metaml.metalearning.scales import Array, normal_scores
from metaml.metalearning.transfer_gp import matern

VARIANCE, LENGTH, NOISE, LEVEL = 0.5, 0.7, 0.15, 0.3
"""Of the process of residuals; halving or doubling the variance and the length changes no tau by more than .003."""
MOST_RUNS = 60
"""Runs of a data set from which its residuals are learnt."""
WIDEST = 3.0
"""Scores further than this many units from the middle of their data set are as good or bad as that."""
LEAST_SHARED = 5
"""Runs of all algorithms on a data set, below which each algorithm keeps its own scale."""


def pooled_landscape(history: RunHistory, learner: MetaLearner, *, n_grid: int = 500, seed: int = 0) -> Landscape:
    """Return the landscape of a history as the meta-learner sees it, corrected by each data set's own runs."""
    rng = np.random.default_rng(seed)
    grid = history.rows[rng.permutation(len(history.rows))[:n_grid]]
    known = [k for k, places in enumerate(history.places) if len(places) and history.spread[k] > 0]
    levels = np.zeros((len(known), len(grid)))
    for position, k in enumerate(known):
        places = history.places[k][:MOST_RUNS]
        rows = history.rows[places]
        said = learner.predict_rows(np.vstack([rows, grid]), described(history, k))
        residual = history.standard[places] - said[: len(rows)]
        K = VARIANCE * matern(rows, rows, LENGTH) + LEVEL
        K[np.diag_indices_from(K)] += NOISE
        across = VARIANCE * matern(grid, rows, LENGTH) + LEVEL
        levels[position] = said[len(rows) :] + across @ np.linalg.solve(K, residual)
    return Landscape(
        datasets=tuple(history.datasets[k] for k in known),
        grid=grid,
        levels=levels,
        metafeatures=history.metafeatures.iloc[known],
        log_spread=np.log(history.spread[known]),
        seed=seed,
    )


def on_one_scale(histories: Mapping[str, RunHistory]) -> dict[str, RunHistory]:
    """Return the histories with scores on a scale that all algorithms share, data set by data set.

    A few runs of one algorithm make no scale; those of all together do, and algorithms can then be compared.
    """
    scores: dict[str, list[Array]] = {}
    for item in histories.values():
        for fingerprint, places in zip(item.datasets, item.places, strict=True):
            scores.setdefault(fingerprint, []).append(item.scores[places])
    every = {fingerprint: np.concatenate(parts) for fingerprint, parts in scores.items()}
    return {name: _rescaled(item, every) for name, item in histories.items()}


def _rescaled(history: RunHistory, every: Mapping[str, Array]) -> RunHistory:
    standard, normal = history.standard.copy(), history.normal.copy()
    spread = history.spread.copy()
    for k, (fingerprint, places) in enumerate(zip(history.datasets, history.places, strict=True)):
        others = every[fingerprint]
        unit = _unit(others)
        if len(others) < LEAST_SHARED or not unit > 0:
            continue
        own = history.scores[places]
        standard[places] = np.clip((own - np.median(others)) / unit, -WIDEST, WIDEST)
        order = np.argsort(others, kind="stable")
        normal[places] = np.interp(own, others[order], normal_scores(others)[order])
        spread[k] = unit
    return replace(history, standard=standard, normal=normal, spread=spread)


def _unit(scores: Array) -> float:
    """Return the unit of some scores: that of a normal distribution with their middle eight tenths, else their own."""
    low, high = np.quantile(scores, [0.1, 0.9])
    return float(high - low) / 2.56 or float(scores.std())
