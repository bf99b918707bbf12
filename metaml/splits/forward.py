"""Folds that follow one another in time: trained on the past, tested on the future (forward chaining).

The first half of the rows only trains. The others are tested block by block, each by a model of all rows before it, so
that models are judged at nearly the size that they will have. Rows of the same moment are in the same block. With
groups, a fold also trains on no row of a group that it tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from metaml.arrays import Array
from metaml.errors import BadDataset
from metaml.splits.fold_plan import ALWAYS_TRAINS, UNUSED, FoldPlan, Strategy, packed
from metaml.splits.group import drawn_rows, group_parts, groups_of
from metaml.splits.shuffled import HELD_OUT_SHARE, MOST_HELD_OUT, check_request

if TYPE_CHECKING:
    from metaml.data import Dataset

FIRST_SHARE = 0.5
"""The share of the rows, the earliest ones, that are never tested."""
LEAST_KEPT = 0.5
"""The share of the earlier rows that a fold must keep for training when it leaves out the groups that it tests."""


class Forward:
    """Blocks in the order of time; a single fold holds out the latest rows."""

    strategies = ("forward", "forward_holdout")

    def plan(self, dataset: Dataset, *, n_folds: int, seed: int, max_rows: int | None) -> FoldPlan:
        """Return the fold plan of a data set that has times; a subsample draws rows, whatever their time."""
        assignment, n_blocks, max_rows = _blocks(dataset, n_folds, seed, max_rows)
        return FoldPlan("forward_holdout" if n_folds == 1 else "forward", n_blocks, seed, max_rows, assignment)


class GroupedForward:
    """Blocks in the order of time, none of which trains on the groups that it tests.

    If most earlier rows are of groups that a block has, too, the block tests only a part of its groups, another part in
    each block.
    """

    strategies = ("group_forward", "group_forward_holdout")

    def plan(self, dataset: Dataset, *, n_folds: int, seed: int, max_rows: int | None) -> FoldPlan:
        """Return the fold plan of a data set that has groups and times."""
        groups = groups_of(dataset)
        blocks, n_blocks, max_rows = _blocks(dataset, n_folds, seed, max_rows)
        parts, n_parts = group_parts(groups, None, max(n_blocks, 2), seed)
        assignment = blocks.copy()
        trains = np.zeros((n_blocks, len(groups)), dtype=bool)
        for block in range(n_blocks):
            earlier = (blocks != UNUSED) & (blocks < block)
            tested = blocks == block
            trains[block] = earlier & ~np.isin(groups, groups[tested])
            if trains[block].sum() < LEAST_KEPT * earlier.sum():
                tested &= parts == block % n_parts
                trains[block] = earlier & ~np.isin(groups, groups[tested])
                assignment[(blocks == block) & ~tested] = ALWAYS_TRAINS
        return _without_empty_folds(dataset, assignment, trains, seed, max_rows, is_single=n_folds == 1)


def _without_empty_folds(
    dataset: Dataset,
    assignment: npt.NDArray[np.int16],
    trains: npt.NDArray[np.bool_],
    seed: int,
    max_rows: int | None,
    *,
    is_single: bool,
) -> FoldPlan:
    """Return the plan of the folds that both train and test."""
    is_whole = [trains[fold].any() and bool((assignment == fold).any()) for fold in range(len(trains))]
    if not any(is_whole):
        raise BadDataset(
            f"No fold can train on other groups ({dataset.roles.options.group!r}) at earlier times "
            f"({dataset.roles.options.time!r}). Leave out --group or --time."
        )
    kept = assignment.copy()
    for fold in np.flatnonzero(~np.array(is_whole))[::-1]:
        kept[assignment == fold] = ALWAYS_TRAINS
        kept -= (assignment > fold).astype(np.int16)
    strategy: Strategy = "group_forward_holdout" if is_single else "group_forward"
    n_folds = int(np.sum(is_whole))
    return FoldPlan(strategy, n_folds, seed, max_rows, kept, packed(trains[is_whole]))


def _blocks(
    dataset: Dataset, n_folds: int, seed: int, max_rows: int | None
) -> tuple[npt.NDArray[np.int16], int, int | None]:
    """Return the block of each row in the order of time, how many there are, and `max_rows` as the plan keeps it."""
    times = _times_of(dataset)
    check_request(len(times), n_folds, max_rows)
    rows, max_rows = drawn_rows(len(times), max_rows, seed)
    moments, places = np.unique(times[rows], return_inverse=True)
    if len(moments) < 2:
        raise BadDataset(f"All rows have the same time {moments.tolist()}, so there is no past. Choose another --time.")
    n_until = np.cumsum(np.bincount(places))
    n = len(rows)
    first = FIRST_SHARE * n
    if n_folds == 1:
        first = max((1 - HELD_OUT_SHARE) * n, n - MOST_HELD_OUT)
    wanted = first + np.arange(n_folds) * (n - first) / n_folds
    # A block begins after the moment whose rows come nearest to where it should begin.
    begins = np.unique([int(np.abs(n_until[:-1] - edge).argmin()) + 1 for edge in wanted])
    blocks = np.searchsorted(begins, places, side="right") - 1
    assignment = np.full(len(times), UNUSED, dtype=np.int16)
    assignment[rows] = np.where(blocks < 0, ALWAYS_TRAINS, blocks)
    return assignment, len(begins), max_rows


def _times_of(dataset: Dataset) -> Array:
    if dataset.roles.times is None:
        raise BadDataset(f"{dataset.name} has no times to split by. Name their column with --time.")
    return dataset.roles.times
