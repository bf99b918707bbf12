"""The interface between a data set and its fold plan: a rule that says how rows become folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from metaml.data import Dataset
    from metaml.splits.fold_plan import FoldPlan


class Splitter(Protocol):
    """Decides which rows of a data set train and test in which fold.

    The same data set, numbers and seed always give the same plan. In no fold does a row train and test. The plan names
    one of the `strategies` of its splitter, by which a stored plan is made again.
    """

    @property
    def strategies(self) -> tuple[str, ...]:
        """Return the strategies that its plans may name."""
        ...

    def plan(self, dataset: Dataset, *, n_folds: int, seed: int, max_rows: int | None) -> FoldPlan:
        """Return a plan with `n_folds` folds, fewer only where there are fewer rows.

        `max_rows` limits how many rows are used; it is None in the plan if all rows are.
        """
        ...
