"""Metrics of several predictions of the same rows at once: candidates × rows × classes in, one score each out."""

import numpy as np

from metaml.arrays import Array, Floats
from metaml.metrics.base import LEAST_PROBABILITY


def roc_auc(truth: Array, batch: Array) -> Floats:
    """Return the area under the ROC curve of each prediction: what `roc_auc` says, by counting ordered pairs."""
    codes = [1] if batch.shape[2] == 2 else np.unique(truth).tolist()
    members = [truth == code for code in codes]
    n_pairs = [int(inside.sum()) * int((~inside).sum()) for inside in members]
    if not all(n_pairs):
        return np.full(len(batch), np.nan)
    areas = np.empty((len(batch), len(codes)))
    for i, prediction in enumerate(batch):
        for k, (code, inside) in enumerate(zip(codes, members, strict=True)):
            chances = prediction[:, code]
            above, below = np.sort(chances[inside]), np.sort(chances[~inside])
            wins = np.searchsorted(below, above, "left").sum() + np.searchsorted(below, above, "right").sum()
            areas[i, k] = wins / (2 * n_pairs[k])
    return np.asarray(areas.mean(axis=1))


def neg_log_loss(truth: Array, batch: Array) -> Floats:
    """Return the mean log probability of the true class: what `neg_log_loss` says where rows sum to 1."""
    of_truth = batch[:, np.arange(len(truth)), truth].astype(np.float64)
    return np.asarray(np.log(np.clip(of_truth, LEAST_PROBABILITY, 1.0)).mean(axis=1))


def neg_brier(truth: Array, batch: Array) -> Floats:
    """Return the negative Brier scores: what `neg_brier` says where rows sum to 1."""
    of_truth = batch[:, np.arange(len(truth)), truth].astype(np.float64)
    if batch.shape[2] == 2:
        return -np.asarray(np.square(1 - of_truth).mean(axis=1))
    squares = np.einsum("crk,crk->cr", batch, batch)
    return -np.asarray((squares - 2 * of_truth + 1).mean(axis=1))
