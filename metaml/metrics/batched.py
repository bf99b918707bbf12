"""Metrics of several predictions of the same rows at once: candidates × rows × classes in, one score each out."""

import math
from collections.abc import Sequence

import numpy as np

from metaml.arrays import Array, Floats
from metaml.metrics.base import LEAST_PROBABILITY, Weight


def roc_auc(truth: Array, batch: Array, weight: Weight = None) -> Floats:
    """Return the area under the ROC curve of each prediction: what `roc_auc` says, by counting ordered pairs."""
    codes = [1] if batch.shape[2] == 2 else np.unique(truth).tolist()
    members = [truth == code for code in codes]
    if weight is not None:
        return np.array([weighted_area(truth, item, weight, codes) for item in batch])
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


def neg_log_loss(truth: Array, batch: Array, weight: Weight = None) -> Floats:
    """Return the mean log probability of the true class: what `neg_log_loss` says where rows sum to 1."""
    of_truth = batch[:, np.arange(len(truth)), truth].astype(np.float64)
    return _mean(np.log(np.clip(of_truth, LEAST_PROBABILITY, 1.0)), weight)


def neg_brier(truth: Array, batch: Array, weight: Weight = None) -> Floats:
    """Return the negative Brier scores: what `neg_brier` says where rows sum to 1."""
    of_truth = batch[:, np.arange(len(truth)), truth].astype(np.float64)
    if batch.shape[2] == 2:
        return -_mean(np.square(1 - of_truth), weight)
    squares = np.einsum("crk,crk->cr", batch, batch)
    return -_mean(squares - 2 * of_truth + 1, weight)


def weighted_area(truth: Array, probabilities: Array, weight: Floats, codes: Sequence[int]) -> float:
    """Return the mean over classes of the share of pairs in the right order, a pair counting by its weights' product.

    NaN if a class has all rows, or none.
    """
    areas = []
    for code in codes:
        _, place = np.unique(probabilities[:, code], return_inverse=True)
        above = np.bincount(place, np.where(truth == code, weight, 0.0))
        below = np.bincount(place, np.where(truth == code, 0.0, weight))
        pairs = float(above.sum() * below.sum())
        areas.append(float(above @ (np.cumsum(below) - below / 2)) / pairs if pairs > 0 else math.nan)
    return float(np.mean(areas))


def _mean(values: Floats, weight: Weight) -> Floats:
    return np.asarray(values.mean(axis=1) if weight is None else np.average(values, axis=1, weights=weight))
