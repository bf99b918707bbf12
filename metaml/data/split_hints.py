"""Columns that look like time or groups although nobody said so: a shuffled split may then tell too high a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, TypeGuard

import numpy as np
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.data.cells import floats_of, holds_floats
from metaml.data.columns import Column
from metaml.data.names import names_an_entity, names_an_identifier, names_time
from metaml.data.options import ColumnOptions
from metaml.data.roles import Roles, groups_in, times_in

LEAST_MOMENTS, LEAST_GROUPS = 20, 20
"""Fewer different values say little about time or groups."""
IN_ORDER = 0.99
"""The share of steps from row to row that must not go back in time."""
LEAST_REPEATS = 2.0
"""The mean number of rows of a group."""


@dataclass(frozen=True)
class SplitHint:
    """A column that looks like time or like groups; `values` are times or codes of groups, one for each row."""

    column: str
    kind: Literal["time", "group"]
    values: Array = field(repr=False, compare=False)

    @property
    def roles(self) -> Roles:
        """Return what the column would be if the user said so."""
        if self.kind == "time":
            return Roles(ColumnOptions(time=self.column), times=self.values)
        return Roles(ColumnOptions(group=self.column), groups=self.values)

    def __str__(self) -> str:
        if self.kind == "time":
            return (
                f"The rows are in the order of {self.column!r}, which looks like time, but folds mix earlier and later "
                f"rows. If the model will predict later rows, type --time {_quoted(self.column)}."
            )
        return (
            f"The values of {self.column!r} repeat and look like the names of groups, but a group may be in several "
            f"folds. If the model will predict new groups, type --group {_quoted(self.column)}."
        )


def split_hints(frame: pd.DataFrame, columns: Sequence[Column], options: ColumnOptions) -> tuple[SplitHint, ...]:
    """Return a hint for the first column that looks like time and for the first that looks like groups.

    What the user has said something about is not looked for.
    """
    hints: list[SplitHint] = []
    if options.time is None:
        likely = [column.name for column in columns if column.kind == "date" or names_time(column.name)]
        times = ((name, times_in(frame[name])) for name in likely)
        hints += islice((SplitHint(name, "time", found) for name, found in times if _is_in_order(found)), 1)
    if options.group is None:
        likely = [column.name for column in columns if column.kind in ("numeric", "category", "text")]
        likely = [name for name in likely if names_an_identifier(name) or names_an_entity(name)]
        groups = ((name, groups_in(frame[name])[0]) for name in likely if _are_names(frame[name]))
        hints += islice((SplitHint(name, "group", found) for name, found in groups if _repeat(found)), 1)
    return tuple(hints)


def _is_in_order(times: Floats | None) -> TypeGuard[Floats]:
    """Return whether times never go back, or never forth, apart from a few rows; a gap has no time."""
    if times is None or np.isnan(times).any() or len(np.unique(times)) < LEAST_MOMENTS:
        return False
    steps = np.diff(times)
    return bool(max(np.mean(steps >= 0), np.mean(steps <= 0)) >= IN_ORDER)


def _are_names(column: pd.Series) -> bool:
    """Return whether a column holds words or whole numbers."""
    if not holds_floats(column):
        return True
    values = floats_of(column)
    return bool(np.all((values == np.floor(values)) | np.isnan(values)))


def _repeat(groups: Array) -> bool:
    """Return whether there are many groups, and several rows of each."""
    n_groups = len(np.unique(groups))
    return n_groups >= LEAST_GROUPS and len(groups) >= LEAST_REPEATS * n_groups


def _quoted(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else repr(name)
