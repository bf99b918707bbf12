"""The score of out-of-fold predictions after the thresholds between classes are tuned, without optimism.

A metric of labels depends on the thresholds between classes. What counts is the score at the thresholds that a user
will get, not at one half. So the thresholds for the rows of a fold are chosen on the other folds. All such metrics
follow from the table of true and predicted classes. The tables of all candidate thresholds are computed together for
all folds. This takes milliseconds: cheap enough for every evaluation of a search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metaml.algorithms.weighted_statistics import weighted_quantiles
from metaml.errors import BadRequest
from metaml.evaluation.job import Outcome
from metaml.metrics import metric
from metaml.metrics.base import Weight, some

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

N_INTERVALS = 100
"""Sub-intervals of a threshold, for each class holding an equal share of its rows."""
LARGEST_LOG_FACTOR = 5.0
N_NEIGHBOURS = 1
"""A cut counts as the mean of itself and so many neighbours on each side, so that a lucky spike does not win."""
PRICE = 0.005
"""What a score pays for each unit of the logarithms of the factors: a line far from the plain one must be worth it."""
LEAST_MEMBERS = 100
"""Rows of the rarest class below which a line tells more of chance than of the model: the plain one counts then."""
N_PARTS = 5
PRIOR_POWERS = tuple(np.linspace(-0.5, 1.5, 17).tolist())
"""With more than two classes, the factors that come into question are powers of 1 / how frequent each class is."""


class Lines(NamedTuple):
    """Lines between classes: candidates × classes of log factors, and candidates × folds × true × predicted counts."""

    logs: Floats
    tables: Floats


def depends_on_thresholds(metric_name: str) -> bool:
    """Return whether a metric looks at predicted labels.

    >>> depends_on_thresholds("f1_macro"), depends_on_thresholds("roc_auc"), depends_on_thresholds("neg_rmse")
    (True, False, False)
    """
    return metric(metric_name).needs == "labels"


def threshold_score(
    outcome: Outcome,
    truth: Array,
    folds: Array,
    metric_name: str,
    *,
    is_forward: bool = False,
    row_weights: Weight = None,
) -> float:
    """Return what an evaluation is worth: for metrics of labels the score after thresholds, else the plain one.

    Where it is not known what was predicted in every fold, it is the plain one as well. `is_forward` and `row_weights`
    are as in `judge`.
    """
    if not depends_on_thresholds(metric_name) or outcome.status != "ok" or outcome.predictions is None:
        return outcome.score(metric_name)
    return judge(outcome.predictions, truth, folds, metric_name, is_forward=is_forward, row_weights=row_weights)


def moves_lines(metric_name: str, truth: Array, folds: Array, n_classes: int) -> bool:
    """Return whether scores by a metric are those after thresholds, for the rows that are tested in a fold.

    >>> moves_lines("f1", np.repeat([0, 1], [900, 100]), np.zeros(1000), 2)
    True
    """
    return depends_on_thresholds(metric_name) and not is_few(np.asarray(truth)[np.asarray(folds) >= 0], n_classes)


def judge(
    probabilities: Array,
    truth: Array,
    folds: Array,
    metric_name: str,
    *,
    positive: int | None = None,
    is_forward: bool = False,
    row_weights: Weight = None,
) -> float:
    """Return the mean score over folds, each with the factors that are best on the other folds.

    If folds follow one another in time (`is_forward`), the factors are those that are best on the folds before; the
    first fold has none.

    `folds` is the fold that tests each row; rows without probabilities (NaN) do not count. Rows that were all tested
    in one fold take the part of several. Where a class has fewer than a hundred rows, the factors are all equal.
    F1 looks at the `positive` class, by default at the rarer one of all rows, tested or not. `row_weights` say how much
    each row counts; how few there are is still a matter of rows, as a heavy one is no more evidence than a light one.
    """
    values = judge_folds(
        probabilities, truth, folds, metric_name, positive=positive, is_forward=is_forward, row_weights=row_weights
    )
    defined = values[np.isfinite(values)]
    return float(np.mean(defined)) if len(defined) else float("nan")


def judge_folds(
    probabilities: Array,
    truth: Array,
    folds: Array,
    metric_name: str,
    *,
    positive: int | None = None,
    is_forward: bool = False,
    row_weights: Weight = None,
) -> Floats:
    """Return the score of each fold, as `judge` has it; NaN where it is not defined."""
    found = metric(metric_name).on(truth)
    positive = found.positive if positive is None else positive
    rows = np.flatnonzero(np.isfinite(probabilities).all(axis=1))
    chances, truth = found.leaning(np.asarray(probabilities, dtype=np.float64)[rows]), np.asarray(truth)[rows]
    tested_in = np.asarray(folds)[rows]
    if len(np.unique(tested_in)) == 1:
        tested_in = np.arange(len(rows)) % N_PARTS
    lines = lines_between(chances, truth, tested_in, some(row_weights, rows))
    so_far = lines.tables.cumsum(axis=1) if is_forward else lines.tables.sum(axis=1, keepdims=True)
    elsewhere = so_far - lines.tables
    plain = int(np.argmin(np.abs(lines.logs).sum(axis=1))) if is_few(truth, chances.shape[1]) else None
    chosen = [
        best_line(lines.logs, elsewhere[:, fold], metric_name, positive) if plain is None else plain
        for fold in range(lines.tables.shape[1])
    ]
    return np.array([scores_of(metric_name, lines.tables[line, fold], positive) for fold, line in enumerate(chosen)])


def is_few(truth: Array, n_classes: int) -> bool:
    """Return whether a class has too few rows to choose a threshold.

    >>> is_few(np.repeat([0, 1], [900, 99]), 2), is_few(np.repeat([0, 1], [900, 100]), 2)
    (True, False)
    """
    return bool(np.bincount(truth, minlength=n_classes).min() < LEAST_MEMBERS)


def lines_between(chances: Array, truth: Array, folds: Array | None = None, weight: Weight = None) -> Lines:
    """Return the lines that come into question, and the table of each in each fold."""
    n_classes = chances.shape[1]
    places = np.zeros(len(truth), dtype=np.int64) if folds is None else np.unique(folds, return_inverse=True)[1]
    members = np.bincount(truth, weight, minlength=n_classes)
    if n_classes == 2:
        return _cuts(chances, truth, places, weight)
    logs = np.outer(PRIOR_POWERS, np.log(members.max() / (members + 1.0)))
    logs = np.clip(logs, -LARGEST_LOG_FACTOR, LARGEST_LOG_FACTOR)
    cells = (places * n_classes + truth) * n_classes
    shape = (int(places.max()) + 1, n_classes, n_classes)
    tables = [
        np.bincount(cells + (chances * np.exp(row)).argmax(axis=1), weight, minlength=np.prod(shape)).reshape(shape)
        for row in logs
    ]
    return Lines(logs, np.array(tables, dtype=np.float64))


def _cuts(chances: Array, truth: Array, places: Array, weight: Weight) -> Lines:
    """Return the lines between two classes: one half, and cuts between sub-intervals of the second's probability."""
    second = chances[:, 1] / np.maximum(chances.sum(axis=1), 1e-300)
    shares = np.linspace(0.0, 1.0, N_INTERVALS + 1)
    members = [truth == code for code in np.unique(truth)]
    seen = [_quantiles(second[own], shares, some(weight, own)) for own in members]
    edges = np.unique(np.concatenate([[0.0, 1.0], *seen]))
    cuts = np.unique(np.append((edges[1:] + edges[:-1]) / 2, 0.5))
    least = 1 / (1 + np.exp(LARGEST_LOG_FACTOR))
    cuts = np.unique(np.clip(cuts, least, 1 - least))
    n_cuts, n_folds = len(cuts), int(places.max()) + 1
    # A row is of the second class for every cut below its probability.
    n_below = np.searchsorted(cuts, second, side="left")
    cells = (places * 2 + truth) * (n_cuts + 1) + n_below
    counts = np.bincount(cells, weight, minlength=n_folds * 2 * (n_cuts + 1)).reshape(n_folds, 2, n_cuts + 1)
    seconds = counts.sum(axis=2, keepdims=True) - counts.cumsum(axis=2)
    both = np.stack([counts.sum(axis=2, keepdims=True) - seconds, seconds], axis=-1)[:, :, :n_cuts]
    logs = np.stack([np.zeros(n_cuts), np.log1p(-cuts) - np.log(cuts)], axis=1)
    return Lines(logs, both.transpose(2, 0, 1, 3).astype(np.float64))


def _quantiles(values: Array, shares: Floats, weight: Weight) -> Floats:
    return np.quantile(values, shares) if weight is None else weighted_quantiles(values, weight, shares.tolist())


def best_line(logs: Floats, tables: Floats, metric_name: str, positive: int | None = None) -> int:
    """Return which line has the best score, by the table (true × predicted) of each."""
    values = scores_of(metric_name, tables, positive)
    distances = np.abs(logs).sum(axis=1)
    values = np.where(np.isnan(values), -1.0, values / metric(metric_name).unit) - PRICE * distances
    smooth = values
    if logs.shape[1] == 2:
        padded = np.pad(values, N_NEIGHBOURS, mode="edge")
        smooth = np.mean([padded[k : k + len(values)] for k in range(2 * N_NEIGHBOURS + 1)], axis=0)
    best, plain = int(np.argmax(smooth)), int(np.argmin(distances))
    return best if values[best] > values[plain] else plain


def scores_of(metric_name: str, tables: Floats, positive: int | None = None) -> Floats:
    """Return a metric of labels for tables of counts, … × true × predicted; NaN where it is undefined.

    F1 looks at the `positive` class, by default at the rarer one of each table.

    >>> scores_of("accuracy", np.array([[3.0, 1.0], [0.0, 4.0]])).tolist()
    0.875
    """
    found = metric(metric_name).of_class(positive)
    if found.from_counts is None:
        raise BadRequest(f"{found.label} does not follow from predicted labels. Choose a metric that looks at them.")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(found.from_counts(tables))
