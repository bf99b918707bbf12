"""Splits: how the rows of a data set become the folds of a cross-validation.

A `Splitter` makes a `FoldPlan`; `make_plan` asks the one that is wanted, by default the one that is honest for the data
set: by group, by time, by both, or else shuffled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metaml.splits.fold_plan import FoldPlan, given_plan
from metaml.splits.forward import Forward, GroupedForward
from metaml.splits.given import GivenFolds
from metaml.splits.group import Grouped
from metaml.splits.shuffled import Shuffled
from metaml.splits.splitter import Splitter

if TYPE_CHECKING:
    from metaml.data import Dataset

__all__ = ["PLAN_SEED", "SPLITTERS", "FoldPlan", "GivenFolds", "Splitter", "given_plan", "make_plan", "splitter_for"]

PLAN_SEED = 0
"""All sessions split a data set in the same way, whatever their seed, so that their runs can be compared."""

SPLITTERS: dict[str, Splitter] = {
    "shuffled": Shuffled(),
    "group": Grouped(),
    "forward": Forward(),
    "group_forward": GroupedForward(),
}
"""Every splitter by name."""

_MAKERS = {strategy: found for found in SPLITTERS.values() for strategy in found.strategies}


def make_plan(
    dataset: Dataset,
    n_folds: int = 5,
    seed: int = PLAN_SEED,
    max_rows: int | None = None,
    *,
    splitter: Splitter | None = None,
) -> FoldPlan:
    """Return the folds of a data set; with one fold, a part of the rows is held out.

    There are fewer folds only where there are fewer rows. `max_rows` keeps a subsample; it is None in the plan when all
    rows fit. Without a `splitter`, it is the one for the data set.
    """
    return (splitter or splitter_for(dataset)).plan(dataset, n_folds=n_folds, seed=seed, max_rows=max_rows)


def splitter_for(dataset: Dataset) -> Splitter:
    """Return the splitter that a data set needs: one that knows its groups and its times, if it has any."""
    has_groups, has_times = dataset.roles.groups is not None, dataset.roles.times is not None
    if has_groups and has_times:
        return SPLITTERS["group_forward"]
    return SPLITTERS["group" if has_groups else "forward" if has_times else "shuffled"]


def splitter_of(strategy: str) -> Splitter | None:
    """Return the splitter whose plans name a strategy; None for folds that were given.

    >>> splitter_of("kfold") is SPLITTERS["shuffled"], splitter_of("given")
    (True, None)
    """
    return _MAKERS.get(strategy)
