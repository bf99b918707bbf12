"""Folds that a user gives: a splitter of scikit-learn, or the rows themselves."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.errors import BadRequest
from metaml.splits.fold_plan import ALWAYS_TRAINS, MAX_FOLDS, UNUSED, FoldPlan, Rows, packed

if TYPE_CHECKING:
    from metaml.data import Dataset

ADVICE = "Pass a splitter that tests each row at most once, such as GroupKFold or TimeSeriesSplit"


class GivenFolds:
    """What scikit-learn calls `cv`: an object with `split(X, y, groups)`, or pairs of training and test rows."""

    strategies = ("given",)

    def __init__(self, cv: Any) -> None:
        self.cv = cv

    def plan(self, dataset: Dataset, *, n_folds: int, seed: int, max_rows: int | None) -> FoldPlan:  # noqa: ARG002
        """Return the folds as they are given, whatever their number; `max_rows` does not apply."""
        n_rows = len(dataset.y)
        pairs = self._pairs(dataset)
        if not 1 <= len(pairs) <= MAX_FOLDS:
            raise BadRequest(f"The cv has {len(pairs)} folds. Pass 1 to {MAX_FOLDS}.")
        assignment = np.full(n_rows, UNUSED, dtype=np.int16)
        trains = np.zeros((len(pairs), n_rows), dtype=bool)
        for fold, (train, test) in enumerate(pairs):
            if not len(train) or not len(test):
                lacks = "to test" if len(train) else "to train on"
                raise BadRequest(f"Fold {fold} of the cv has no rows {lacks}. {ADVICE}.")
            if (assignment[test] != UNUSED).any() or len(np.unique(test)) < len(test):
                raise BadRequest(f"Fold {fold} of the cv tests a row that is tested before. {ADVICE}.")
            assignment[test] = fold
            trains[fold, train] = True
            if trains[fold, test].any():
                raise BadRequest(f"Fold {fold} of the cv trains on a row that it tests. {ADVICE}.")
        assignment[(assignment == UNUSED) & trains.any(axis=0)] = ALWAYS_TRAINS
        plan = FoldPlan("given", len(pairs), 0, None, assignment)
        is_usual = all(np.array_equal(plan.split(fold)[0], np.flatnonzero(row)) for fold, row in enumerate(trains))
        return plan if is_usual else FoldPlan("given", len(pairs), 0, None, assignment, packed(trains))

    def _pairs(self, dataset: Dataset) -> list[tuple[Rows, Rows]]:
        """Return the training and test rows of each fold as rows of the data set.

        Pairs are rows of the raw table, some of which may not be used.
        """
        if hasattr(self.cv, "split"):
            try:
                with warnings.catch_warnings():
                    # Most splitters have no use for groups, and say so.
                    warnings.simplefilter("ignore", UserWarning)
                    pairs = list(self.cv.split(dataset.X, dataset.y, dataset.roles.groups))
            except (TypeError, ValueError) as error:
                raise BadRequest(f"The cv cannot split {dataset.name}: {error}. {ADVICE}.") from None
            return [(_positions(train), _positions(test)) for train, test in pairs]
        places = np.full(int(dataset.rows.max()) + 1, -1)
        places[dataset.rows] = np.arange(len(dataset.rows))
        found = []
        for pair in self.cv:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise BadRequest(f"A fold of the cv is not a pair of training and test rows. {ADVICE}.")
            train, test = (rows[rows < len(places)] for rows in map(_positions, pair))
            found.append((_known(places[train]), _known(places[test])))
        return found


def _positions(rows: Any) -> Rows:
    """Return rows as positions; truth values become the positions of the true ones."""
    found = np.asarray(rows)
    found = np.flatnonzero(found) if found.dtype == bool else found
    if found.ndim != 1 or (len(found) and (found.dtype.kind not in "iu" or found.min() < 0)):
        raise BadRequest(f"A fold of the cv is not made of row numbers from 0. {ADVICE}.")
    return found.astype(np.intp)


def _known(rows: Rows) -> Rows:
    return rows[rows >= 0]


class KeptFolds:
    """A plan that was made before, as a session that goes on needs it."""

    strategies = ("given",)

    def __init__(self, kept: FoldPlan) -> None:
        self.kept = kept

    def plan(self, dataset: Dataset, *, n_folds: int, seed: int, max_rows: int | None) -> FoldPlan:  # noqa: ARG002
        """Return the plan that was kept, if it is one of this data set."""
        if len(self.kept.assignment) != len(dataset.y):
            raise BadRequest(f"The folds are of {len(self.kept.assignment)} rows, the data has {len(dataset.y)}.")
        return self.kept
