"""Metrics of labels as functions of counts: tables of … × true × predicted in, one score for each table out.

Many tables are scored at once. A score that a table cannot define is NaN, possibly with a warning of numpy: callers
silence division by zero.
"""

import numpy as np

from metaml.arrays import Floats


def accuracy(tables: Floats) -> Floats:
    """Return the share of labels that are right."""
    return np.asarray(_hits(tables).sum(axis=-1) / tables.sum(axis=(-2, -1)))


def balanced_accuracy(tables: Floats) -> Floats:
    """Return the mean recall over the classes present."""
    return np.asarray(_mean_defined(_hits(tables) / tables.sum(axis=-1)))


def kappa(tables: Floats) -> Floats:
    """Return the agreement beyond chance (Cohen 1960)."""
    total = tables.sum(axis=(-2, -1))
    by_chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / total**2
    return np.asarray(np.where(by_chance < 1, (accuracy(tables) - by_chance) / (1 - by_chance), np.nan))


def f1(tables: Floats, positive: int | None = None) -> Floats:
    """Return the F1 of one of two classes, by default of the rarer one of each table."""
    members, each = tables.sum(axis=-1), _f1_of_each(tables)
    if positive is not None:
        return np.asarray(each[..., positive])
    return np.asarray(np.where(members[..., 0] < members[..., 1], each[..., 0], each[..., 1]))


def f1_macro(tables: Floats) -> Floats:
    """Return the mean F1 over the classes that are present or predicted."""
    return np.asarray(_mean_defined(_f1_of_each(tables)))


def mcc(tables: Floats) -> Floats:
    """Return Matthews' correlation; 0 if all predictions are the same, NaN if one class is true throughout."""
    total = tables.sum(axis=(-2, -1))
    true, predicted = tables.sum(axis=-1), tables.sum(axis=-2)
    together = _hits(tables).sum(axis=-1) * total - (true * predicted).sum(axis=-1)
    of_truth, of_labels = total**2 - (true**2).sum(axis=-1), total**2 - (predicted**2).sum(axis=-1)
    spread = np.sqrt(np.maximum(of_truth * of_labels, 0.0))
    found = np.where(spread > 0, together / np.where(spread > 0, spread, 1.0), 0.0)
    return np.asarray(np.where(of_truth > 0, np.clip(found, -1.0, 1.0), np.nan))


def weighted_kappa(tables: Floats) -> Floats:
    """Return the agreement beyond chance of ordered classes, an error counting by its square (Cohen 1968)."""
    codes = np.arange(tables.shape[-1])
    cost = np.square(codes[:, None] - codes[None, :]).astype(np.float64)
    total = tables.sum(axis=(-2, -1))
    by_chance = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :]
    expected = (cost * by_chance).sum(axis=(-2, -1)) / np.where(total > 0, total, 1.0)
    seen = (cost * tables).sum(axis=(-2, -1))
    return np.asarray(np.where(expected > 0, 1 - seen / np.where(expected > 0, expected, 1.0), np.nan))


def _hits(tables: Floats) -> Floats:
    return np.diagonal(tables, axis1=-2, axis2=-1)


def _mean_defined(values: Floats) -> Floats:
    is_defined = ~np.isnan(values)
    return np.asarray(np.where(is_defined, values, 0.0).sum(axis=-1) / is_defined.sum(axis=-1))


def _f1_of_each(tables: Floats) -> Floats:
    return np.asarray(2 * _hits(tables) / (tables.sum(axis=-1) + tables.sum(axis=-2)))
