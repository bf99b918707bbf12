"""Landscapes and scales for a knowledge base with many data sets but few runs on each.

A few runs on a data set are not enough to train a forest. Instead, the meta-learner predicts the landscape, and a small
Gaussian process fitted to its residuals on that data set corrects the prediction. With 8 runs per
data set (openml100-sklearn, random_forest, 25 tasks) tau-b after 5 evaluations is .61 instead of .52; with 300 runs
both are equal.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from metaml.arrays import Floats
from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import Landscape
from metaml.metalearning.meta_learner import MetaLearner
from metaml.metalearning.scales import normal_scores
from metaml.metalearning.transfer_gp import matern

VARIANCE, LENGTH, NOISE, LEVEL = 0.5, 0.7, 0.15, 0.3
"""Of the residual process. Halving or doubling variance and length changes tau by at most .003."""
MOST_RUNS = 60
"""The residuals are learnt from at most this many runs of a data set."""
WIDEST = 3.0
"""Scores are clipped at this many units from the median of their data set."""
LEAST_SHARED = 5
"""With fewer runs of all algorithms on a data set, each algorithm keeps its own scale."""


def pooled_landscape(history: RunHistory, learner: MetaLearner, *, n_grid: int = 500, seed: int = 0) -> Landscape:
    """Return the landscape predicted by the meta-learner, corrected by each data set's own runs."""
    rng = np.random.default_rng(seed)
    grid = history.rows[rng.permutation(len(history.rows))[:n_grid]]
    known = [k for k, places in enumerate(history.places) if len(places) and history.spread[k] > 0]
    levels = np.zeros((len(known), len(grid)))
    for position, k in enumerate(known):
        places = history.places[k][:MOST_RUNS]
        rows = history.rows[places]
        predicted = learner.predict_rows(np.vstack([rows, grid]), history.metafeatures_of(k))
        residual = history.standard[places] - predicted[: len(rows)]
        K = VARIANCE * matern(rows, rows, LENGTH) + LEVEL
        K[np.diag_indices_from(K)] += NOISE
        across = VARIANCE * matern(grid, rows, LENGTH) + LEVEL
        levels[position] = predicted[len(rows) :] + across @ np.linalg.solve(K, residual)
    return Landscape(
        datasets=tuple(history.datasets[k] for k in known),
        grid=grid,
        levels=levels,
        metafeatures=history.metafeatures.iloc[known],
        log_spread=np.log(history.spread[known]),
        seed=seed,
    )


def on_one_scale(histories: Mapping[str, RunHistory]) -> dict[str, RunHistory]:
    """Return the run histories with the scores of each data set on one scale for all algorithms.

    A few runs of one algorithm do not define a scale. The runs of all algorithms together do, and make them comparable.
    """
    scores: dict[str, list[Floats]] = {}
    for item in histories.values():
        for fingerprint, places in zip(item.datasets, item.places, strict=True):
            scores.setdefault(fingerprint, []).append(item.scores[places])
    every = {fingerprint: np.concatenate(parts) for fingerprint, parts in scores.items()}
    return {name: _rescaled(item, every) for name, item in histories.items()}


def _rescaled(history: RunHistory, every: Mapping[str, Floats]) -> RunHistory:
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


def _unit(scores: Floats) -> float:
    """Return a robust standard deviation, from the 10 % and 90 % quantiles; the plain one if these are equal."""
    low, high = np.quantile(scores, [0.1, 0.9])
    return float(high - low) / 2.56 or float(scores.std())
