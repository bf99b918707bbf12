"""Scores anew: a metric that nobody used before, from stored predictions of many runs on one data set."""

import numpy as np

from metaml.arrays import Array, Floats
from metaml.metrics.base import Metric
from metaml.metrics.costs import Costs


def scores_of_each(judge: Metric | Costs, truth: Array, batch: Array) -> Floats:
    """Return the score of each prediction (candidates × rows × classes, or × 1 for values) on the same rows.

    Metrics of labels come from counts, others from their batched form if they have one: thousands of runs in seconds.
    """
    if isinstance(judge, Costs):
        return judge.scores(truth, batch)
    if judge.needs == "labels":
        labels = batch.argmax(axis=2)
        if judge.from_counts is not None:
            return np.asarray(judge.from_counts(_counts(truth, labels, batch.shape[2])), dtype=np.float64)
        return np.array([judge.function(truth, found) for found in labels])
    if judge.needs == "values":
        return np.array([judge.function(truth, found[:, 0].astype(np.float64)) for found in batch])
    if judge.batched is not None:
        return judge.batched(truth, batch)
    return np.array([judge.function(truth, found.astype(np.float64)) for found in batch])


def rescored(judge: Metric | Costs, truth: Array, folds: Array | None, batch: Array) -> Floats:
    """Return the mean over folds of each prediction's score, as `tune` and `bot` compute it; NaN if undefined.

    `folds` has the fold that tested each row, negative for rows that were not tested. Without folds, or if a run did
    not predict all of its folds, the rows that it did predict are scored together.
    """
    if isinstance(judge, Metric):
        judge = judge.on(truth) if judge.needs != "values" else judge
    is_known = ~np.isnan(batch[:, :, 0])
    tested = np.ones(len(truth), dtype=bool) if folds is None else folds >= 0
    parts = [tested] if folds is None else [folds == number for number in np.unique(folds[tested])]
    result = np.full(len(batch), np.nan)
    complete = is_known[:, tested].all(axis=1)
    if complete.any():
        chosen = batch[complete]
        by_fold = np.array([scores_of_each(judge, truth[rows], chosen[:, rows]) for rows in parts])
        counts = (~np.isnan(by_fold)).sum(axis=0)
        sums = np.nansum(by_fold, axis=0)
        result[complete] = np.divide(sums, counts, out=np.full(len(chosen), np.nan), where=counts > 0)
    for place in np.flatnonzero(~complete & is_known.any(axis=1)):
        rows = is_known[place] & tested
        result[place] = scores_of_each(judge, truth[rows], batch[place : place + 1, rows])[0]
    return result


def _counts(truth: Array, labels: Array, n_classes: int) -> Floats:
    """Return candidates × true × predicted counts."""
    cells = np.asarray(truth) * n_classes + labels + n_classes**2 * np.arange(len(labels))[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=len(labels) * n_classes**2)
    return counts.reshape(len(labels), n_classes, n_classes).astype(np.float64)
