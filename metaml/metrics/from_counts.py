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


def _hits(tables: Floats) -> Floats:
    return np.diagonal(tables, axis1=-2, axis2=-1)


def _mean_defined(values: Floats) -> Floats:
    is_defined = ~np.isnan(values)
    return np.asarray(np.where(is_defined, values, 0.0).sum(axis=-1) / is_defined.sum(axis=-1))


def _f1_of_each(tables: Floats) -> Floats:
    return np.asarray(2 * _hits(tables) / (tables.sum(axis=-1) + tables.sum(axis=-2)))
