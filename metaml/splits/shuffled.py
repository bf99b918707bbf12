"""Shuffled folds: the split for rows that have no order and no groups.

Every row in use is tested exactly once. With a single fold, a part of the rows is held out, and the others are used for
training. Stratified plans assign the rows of one class after the other to the folds in turn, so the sizes of the folds,
and of each class within them, differ by at most one. A class with fewer rows than folds is spread over as many folds as
it has rows, so every class with at least two rows is in every training part. A class with a single row is tested in one
fold, whose training part lacks that class.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Array
from metaml.errors import BadDataset, BadRequest
from metaml.splits.fold_plan import ALWAYS_TRAINS, MAX_FOLDS, UNUSED, FoldPlan, Rows

if TYPE_CHECKING:
    from metaml.data import Dataset

HELD_OUT_SHARE, MOST_HELD_OUT = 0.2, 10_000
"""A single fold tests a fifth of the rows, but at most as many as are needed to compare models."""


class Shuffled:
    """Shuffled folds, stratified for classification; a single fold holds out a part of the rows."""

    strategies = ("stratified", "kfold", "holdout")

    def plan(self, dataset: Dataset, *, n_folds: int, seed: int, max_rows: int | None) -> FoldPlan:
        """Return the fold plan of a data set.

        A subsample of `max_rows` keeps the proportions of the classes, with two members of each where possible.
        """
        classes = None if dataset.task == "regression" else dataset.y
        return plan_folds(len(dataset.y), classes, n_folds=n_folds, seed=seed, max_rows=max_rows)


def plan_folds(
    n_rows: int,
    classes: Array | None,
    *,
    n_folds: int = 5,
    seed: int = 0,
    max_rows: int | None = None,
) -> FoldPlan:
    """Return shuffled folds of `n_rows` rows, stratified by `classes` unless that is None."""
    check_request(n_rows, n_folds, max_rows)
    if max_rows is not None and max_rows >= n_rows:
        max_rows = None
    rng = np.random.default_rng(seed)
    shuffled = _shuffled(n_rows, classes, max_rows, rng)
    dealt = np.concatenate(shuffled)
    assignment = np.full(n_rows, UNUSED, dtype=np.int16)
    if n_folds == 1:
        n_parts = max(round(1 / HELD_OUT_SHARE), math.ceil(len(dealt) / MOST_HELD_OUT))
        assignment[dealt] = np.where(np.arange(len(dealt)) % min(n_parts, len(dealt)), ALWAYS_TRAINS, 0)
        return FoldPlan("holdout", 1, seed, max_rows, assignment)
    n_folds = min(n_folds, len(dealt))
    assignment[dealt] = np.arange(len(dealt)) % n_folds
    strategy = "kfold" if classes is None else "stratified"
    return FoldPlan(strategy, n_folds, seed, max_rows, assignment)  # type: ignore[arg-type]


def subsample(n_rows: int, classes: Array | None, n_kept: int, rng: np.random.Generator) -> Rows:
    """Return so many of the rows, drawn in proportion to the classes, with two members of each where possible."""
    return np.concatenate(_shuffled(n_rows, classes, n_kept, rng))


def _shuffled(n_rows: int, classes: Array | None, n_kept: int | None, rng: np.random.Generator) -> list[Rows]:
    """Return the rows of each class in a random order, `n_kept` in all."""
    groups = [np.arange(n_rows)] if classes is None else _members(classes)
    shuffled = [rng.permutation(group) for group in groups]
    if n_kept is None:
        return shuffled
    sizes = _subsample_sizes([len(group) for group in shuffled], n_kept)
    return [group[:size] for group, size in zip(shuffled, sizes, strict=True)]


def check_request(n_rows: int, n_folds: int, max_rows: int | None) -> None:
    """Raise an error if rows cannot be split as asked for."""
    if not 1 <= n_folds <= MAX_FOLDS:
        raise BadRequest(f"Cross-validation needs 1 to {MAX_FOLDS} folds, not {n_folds}. Choose for instance 5.")
    if max_rows is not None and max_rows < 2:
        raise BadRequest(f"A subsample of {max_rows} rows cannot be cross-validated. Allow at least 2 rows.")
    if n_rows < 2:
        raise BadDataset(f"A data set with {n_rows} rows cannot be cross-validated. Give at least 2 rows.")


def _members(classes: Array) -> list[Rows]:
    """Return the rows of each class."""
    order = np.argsort(classes, kind="stable")
    _, starts = np.unique(classes[order], return_index=True)
    return np.split(order, starts[1:])


def _subsample_sizes(sizes: list[int], max_rows: int) -> list[int]:
    """Return how many rows of each class to keep: `max_rows` in all, in proportion, two of each if that fits."""
    counts = np.asarray(sizes)
    floor = np.minimum(counts, 2)
    if floor.sum() > max_rows:
        floor = np.zeros_like(counts)
    exact = counts * (max_rows / counts.sum())
    kept = np.maximum(floor, exact.astype(int))
    while kept.sum() > max_rows:
        kept[np.argmax(np.where(kept > floor, kept - exact, -np.inf))] -= 1
    while kept.sum() < max_rows:
        kept[np.argmax(np.where(kept < counts, exact - kept, -np.inf))] += 1
    return [int(size) for size in kept]
