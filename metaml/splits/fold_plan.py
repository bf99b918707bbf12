"""Fold plans: which rows of a data set train and test in which fold, decided once and stored."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaml.errors import BadRequest

Strategy = Literal["stratified", "kfold", "given", "holdout"]
Rows = npt.NDArray[np.intp]
UNUSED, ALWAYS_TRAINS = -1, -2
"""What a fold plan says of rows that no fold tests."""
MAX_FOLDS = int(np.iinfo(np.int16).max)


@dataclass(frozen=True, eq=False)
class FoldPlan:
    """Which rows of a data set are tested in which fold.

    `assignment` has one int16 per row: the fold that tests the row, -1 for a row that is not used at all, or -2 for
    one that trains in every fold and is never tested.
    Two plans are equal when their strategy and assignment are, whatever seed led to them.
    """

    strategy: Strategy
    n_folds: int
    seed: int
    max_rows: int | None
    assignment: npt.NDArray[np.int16]

    @cached_property
    def hash(self) -> str:
        """Return 32 hex digits that depend on the strategy and the assignment alone."""
        digest = hashlib.blake2b(self.strategy.encode(), digest_size=16)
        digest.update(self.assignment.astype("<i2").tobytes())
        return digest.hexdigest()

    def split(self, fold: int) -> tuple[Rows, Rows]:
        """Return the training rows and the test rows of one fold."""
        tested = self.assignment == fold
        return np.flatnonzero(~tested & (self.assignment != UNUSED)), np.flatnonzero(tested)

    @property
    def unused(self) -> Rows:
        """Return the rows that neither train nor test."""
        return np.flatnonzero(self.assignment == UNUSED)

    def without_fold(self, fold: int) -> FoldPlan:
        """Return the plan of the other folds, which does not use the rows of this one.

        >>> given_plan([0, 1, 2, 0]).without_fold(1).assignment.tolist()
        [0, -1, 1, 0]
        """
        others = self.assignment - (self.assignment > fold)
        others[self.assignment == fold] = UNUSED
        return FoldPlan(self.strategy, self.n_folds - 1, self.seed, self.max_rows, others)

    @property
    def n_used(self) -> int:
        """Return how many rows train or test."""
        return int((self.assignment != UNUSED).sum())

    @property
    def n_tested(self) -> int:
        """Return how many rows are tested."""
        return int((self.assignment >= 0).sum())

    @property
    def n_trained(self) -> float:
        """Return how many rows a fold trains on, in the mean."""
        return self.n_used - self.n_tested / self.n_folds

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FoldPlan) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)


def given_plan(assignment: npt.ArrayLike) -> FoldPlan:
    """Return a plan made elsewhere, for instance by OpenML: the fold of each row, -1 for a row not used.

    >>> given_plan([0, 1, -1, 0]).n_folds
    2
    """
    folds = np.asarray(assignment)
    if folds.ndim != 1 or not np.issubdtype(folds.dtype, np.integer):
        raise BadRequest(f"A fold plan is one whole number per row, not {folds.dtype} of shape {folds.shape}.")
    used = np.unique(folds[folds != -1])
    n_folds = len(used)
    if not 2 <= n_folds <= MAX_FOLDS or used[0] != 0 or used[-1] != n_folds - 1:
        seen = ", ".join(str(fold) for fold in used[:8])
        raise BadRequest(f"A fold plan numbers at least two folds from 0 without gaps; this one has: {seen or 'none'}.")
    return FoldPlan("given", n_folds, 0, None, folds.astype(np.int16))
