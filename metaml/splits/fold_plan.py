"""Fold plans: which rows of a data set train and test in which fold, decided once and stored."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from metaml.errors import BadRequest

Strategy = Literal[
    "stratified",
    "kfold",
    "given",
    "holdout",
    "group",
    "group_holdout",
    "forward",
    "forward_holdout",
    "group_forward",
    "group_forward_holdout",
]
FORWARD = ("forward", "forward_holdout", "group_forward", "group_forward_holdout")
"""Strategies whose folds follow one another in time: a fold trains on what came before it."""
Rows = npt.NDArray[np.intp]
UNUSED, ALWAYS_TRAINS = -1, -2
"""What a fold plan says of rows that no fold tests."""
MAX_FOLDS = int(np.iinfo(np.int16).max)


@dataclass(frozen=True, eq=False)
class FoldPlan:
    """Which rows of a data set are tested in which fold.

    `assignment` has one int16 per row: the fold that tests the row, -1 for a row that is not used at all, or -2 for
    one that trains and is never tested. A fold trains on the used rows that it does not test; with a `forward`
    strategy, only on those of earlier folds and those that are never tested.
    `training`, where no such rule holds, says it row by row: folds × rows, packed to bits.
    Two plans are equal when their strategy and rows are, whatever seed led to them.
    """

    strategy: Strategy
    n_folds: int
    seed: int
    max_rows: int | None
    assignment: npt.NDArray[np.int16]
    training: npt.NDArray[np.uint8] | None = None

    @cached_property
    def hash(self) -> str:
        """Return 32 hex digits that depend on the strategy and the rows alone."""
        digest = hashlib.blake2b(self.strategy.encode(), digest_size=16)
        digest.update(self.content)
        return digest.hexdigest()

    @property
    def content(self) -> bytes:
        """Return the rows as bytes: two for each assignment, then the training bits if there are any."""
        own = self.assignment.astype("<i2").tobytes()
        return own if self.training is None else own + self.training.tobytes()

    @property
    def is_forward(self) -> bool:
        """Return whether folds follow one another in time."""
        return self.strategy in FORWARD

    @property
    def is_shuffled(self) -> bool:
        """Return whether rows were drawn for the folds regardless of groups and time."""
        return self.strategy in ("stratified", "kfold", "holdout")

    def split(self, fold: int) -> tuple[Rows, Rows]:
        """Return the training rows and the test rows of one fold."""
        tested = self.assignment == fold
        if self.training is not None:
            return np.flatnonzero(self._trains(fold)), np.flatnonzero(tested)
        used = self.assignment != UNUSED
        trains = used & (self.assignment < fold) if self.is_forward else used & ~tested
        return np.flatnonzero(trains), np.flatnonzero(tested)

    def _trains(self, fold: int) -> npt.NDArray[np.bool_]:
        assert self.training is not None  # noqa: S101 - for the type checker
        return np.unpackbits(self.training[fold], count=len(self.assignment)).astype(bool)

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
        training = None
        if self.training is not None:
            kept = [self._trains(other) & (others != UNUSED) for other in range(self.n_folds) if other != fold]
            training = packed(np.array(kept))
        return FoldPlan(self.strategy, self.n_folds - 1, self.seed, self.max_rows, others, training)

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
        if self.training is not None or self.is_forward:
            return float(np.mean([len(self.split(fold)[0]) for fold in range(self.n_folds)]))
        return self.n_used - self.n_tested / self.n_folds

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FoldPlan) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)


def packed(trains: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """Return folds × rows of truth values as the bits that a fold plan keeps.

    >>> packed(np.array([[True, False]])).tolist()
    [[128]]
    """
    return np.packbits(trains, axis=1)


def plan_from(
    content: bytes, n_rows: int, strategy: Strategy, n_folds: int, seed: int, max_rows: int | None
) -> FoldPlan:
    """Return the plan whose `content` was kept; raise ValueError if it does not fit these rows and folds."""
    assignment = np.frombuffer(content[: 2 * n_rows], dtype="<i2").astype(np.int16)
    bits = np.frombuffer(content[2 * n_rows :], dtype=np.uint8)
    training = bits.reshape(n_folds, -1) if len(bits) else None
    if len(assignment) != n_rows or (training is not None and 8 * training.shape[1] < n_rows):
        raise ValueError(f"{len(content)} bytes are no plan of {n_folds} folds of {n_rows} rows")
    return FoldPlan(strategy, n_folds, seed, max_rows, assignment, training)


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
