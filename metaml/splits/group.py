"""Folds that keep groups together: the split for rows that belong to the same customer, patient or machine.

No group has rows in two folds, so that a score tells how a model does on groups it has never seen. Folds have about the
same number of rows and, for classification, of each class. Which fold a group is in depends on the groups and the seed,
not on the order of the rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from metaml.arrays import Array
from metaml.errors import BadDataset
from metaml.splits.fold_plan import ALWAYS_TRAINS, UNUSED, FoldPlan, Rows
from metaml.splits.shuffled import HELD_OUT_SHARE, MOST_HELD_OUT, check_request

if TYPE_CHECKING:
    from metaml.data import Dataset

Ints = npt.NDArray[np.int64]

MOST_PLACED = 2000
"""Groups that are placed one by one, the largest first; smaller ones are dealt to the folds in turn."""


class Grouped:
    """Folds of whole groups; a single fold holds out a part of the groups."""

    strategies = ("group", "group_holdout")

    def plan(self, dataset: Dataset, *, n_folds: int, seed: int, max_rows: int | None) -> FoldPlan:
        """Return the fold plan of a data set that has groups; a subsample draws rows, whatever their group."""
        groups = groups_of(dataset)
        check_request(len(groups), n_folds, max_rows)
        rows, max_rows = drawn_rows(len(groups), max_rows, seed)
        classes = None if dataset.task == "regression" else dataset.y[rows]
        n_parts = n_folds
        if n_folds == 1:
            n_parts = max(round(1 / HELD_OUT_SHARE), math.ceil(len(rows) / MOST_HELD_OUT))
        parts, n_parts = group_parts(groups[rows], classes, n_parts, seed)
        assignment = np.full(len(groups), UNUSED, dtype=np.int16)
        if n_folds == 1:
            assignment[rows] = np.where(parts == 0, 0, ALWAYS_TRAINS)
            return FoldPlan("group_holdout", 1, seed, max_rows, assignment)
        assignment[rows] = parts
        return FoldPlan("group", n_parts, seed, max_rows, assignment)


def groups_of(dataset: Dataset) -> Array:
    """Return the group of each row; raise BadDataset if the data set has fewer than two."""
    groups = dataset.roles.groups
    if groups is None:
        raise BadDataset(f"{dataset.name} has no groups to split by. Name their column with --group.")
    if len(np.unique(groups)) < 2:
        raise BadDataset(
            f"The column {dataset.roles.options.group!r} has one group only, so none can be held out. "
            "Choose another with --group."
        )
    return groups


def drawn_rows(n_rows: int, max_rows: int | None, seed: int) -> tuple[Rows, int | None]:
    """Return the rows to use, in order, and `max_rows`, or None if all rows fit."""
    if max_rows is None or max_rows >= n_rows:
        return np.arange(n_rows), None
    return np.sort(np.random.default_rng(seed).permutation(n_rows)[:max_rows]), max_rows


def group_parts(groups: Array, classes: Array | None, n_parts: int, seed: int) -> tuple[Ints, int]:
    """Return the part, from 0, of each row, and how many parts there are: no more than groups.

    The largest groups go, one after the other, to the part that is the emptiest in the classes that the group has.

    >>> parts, n = group_parts(np.array([7, 7, 8, 9]), None, 2, seed=0)
    >>> n, bool(parts[0] == parts[1]), sorted(np.bincount(parts).tolist())
    (2, True, [2, 2])
    """
    known, codes = np.unique(groups, return_inverse=True)
    n_parts = min(n_parts, len(known))
    kinds = np.zeros(len(groups), dtype=np.int64) if classes is None else np.asarray(classes, dtype=np.int64)
    n_kinds = int(kinds.max()) + 1
    counts = np.bincount(codes * n_kinds + kinds, minlength=len(known) * n_kinds).reshape(len(known), n_kinds)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    luck = np.random.default_rng(seed).permutation(len(known))
    order = np.lexsort((luck, -counts.sum(axis=1)))
    part_of = np.empty(len(known), dtype=np.int64)
    filled = np.zeros((n_parts, n_kinds))
    sizes = np.zeros(n_parts)
    for group in order[:MOST_PLACED]:
        emptiest = filled @ (shares[group] > 0)
        place = int(np.lexsort((sizes, emptiest))[0])
        part_of[group] = place
        filled[place] += shares[group]
        sizes[place] += counts[group].sum()
    rest = order[MOST_PLACED:]
    by_kind = rest[np.argsort(counts[rest].argmax(axis=1), kind="stable")]
    part_of[by_kind] = np.arange(len(by_kind)) % n_parts
    return part_of[codes], n_parts
