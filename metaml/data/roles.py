"""What some columns are for, beside features and target: they group rows, order them in time, or weigh them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Floats
from metaml.data.cells import floats_of, holds_floats, is_absent, numbers_of, without_extremes, words_of
from metaml.data.columns import Repair, with_noun
from metaml.data.dates import find_dates, parse_dates
from metaml.data.options import NO_OPTIONS, ColumnOptions
from metaml.data.schema import moments_of
from metaml.data.target import find_column
from metaml.data.weights import effective_weights, weight_repairs, weights_in
from metaml.errors import BadDataset, BadRequest

Ints = npt.NDArray[np.int64]
ROLES = ("group", "time", "weight")
"""The options that name a column with a role."""


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of a data set's columns, with a value for each row of the data set.

    `groups` are codes: equal ones belong together. `times` are numbers: smaller ones are earlier. `weights` say how
    much each row counts. None means that no column has that role, or that all rows count the same.
    """

    options: ColumnOptions = NO_OPTIONS
    groups: Ints | None = None
    times: Floats | None = None
    weights: Floats | None = None

    @property
    def digest(self) -> bytes:
        """Return a hash of the values, and of which predictions may only rise or fall; empty if there is neither."""
        digest = hashlib.blake2b(digest_size=16)
        parts = {"groups": self.groups, "times": self.times, "weights": self.weights}
        known = {name: values for name, values in parts.items() if values is not None}
        for name, values in known.items():
            digest.update(name.encode() + np.ascontiguousarray(values + 0).tobytes())
        directions = sorted(self.options.directions.items())
        if directions:
            digest.update(b"directions" + json.dumps(directions).encode())
        return digest.digest() if known or directions else b""

    def only(self, rows: npt.NDArray[np.intp]) -> Roles:
        """Return the roles of some of the rows."""
        return Roles(
            self.options,
            None if self.groups is None else self.groups[rows],
            None if self.times is None else self.times[rows],
            None if self.weights is None else self.weights[rows],
        )

    def with_settled_weights(self) -> Roles:
        """Return the roles with weights as they count among these rows."""
        return self if self.weights is None else replace(self, weights=effective_weights(self.weights))


NO_ROLES = Roles()


def check_roles(frame: pd.DataFrame, options: ColumnOptions, target: str, file_name: str) -> ColumnOptions:
    """Return the options with the names as the frame has them; raise an error for one that it does not have."""
    names = [str(name) for name in frame.columns]
    found: dict[str, Any] = {}
    for role in ROLES:
        wanted = getattr(options, role)
        if wanted is None:
            continue
        name = find_column(names, wanted, file_name, f"Choose one with --{role}.")
        if name == target:
            raise BadRequest(f"The column {name!r} is the target, so it cannot be the {role}. Choose another --{role}.")
        found[role] = name
    return replace(options, **found)


def no_features(options: ColumnOptions) -> set[str]:
    """Return the columns that have a role and are no features."""
    groups = () if options.keeps_group else (options.group,)
    return {name for name in (*groups, options.weight) if name is not None}


def read_roles(frame: pd.DataFrame, options: ColumnOptions) -> tuple[Roles, npt.NDArray[np.intp], tuple[Repair, ...]]:
    """Return the roles of the rows that can be used, these rows, and what was done to the others."""
    n_rows = len(frame)
    is_usable, repairs = np.ones(n_rows, dtype=bool), []
    groups = times = weights = None
    if options.group is not None:
        groups, n_missing = groups_in(frame[options.group])
        if not options.keeps_group:
            repairs.append(Repair(options.group, "not used as a feature", "it says which rows belong together"))
        if n_missing:
            why = f"{with_noun(n_missing, 'row')} without a group"
            repairs.append(Repair(options.group, "missing cells taken as one group", why))
    if options.time is not None:
        times = _times(frame[options.time], options.time)
        is_usable &= ~np.isnan(times)
        if (n_missing := int(np.isnan(times).sum())) == n_rows:
            raise BadDataset(f"The column {options.time!r} has no time at all. Choose another with --time.")
        if n_missing:
            repairs.append(Repair(options.time, f"{with_noun(n_missing, 'row')} dropped", "without a time"))
    if options.weight is not None:
        weights = weights_in(frame[options.weight], options.weight)
        repairs += weight_repairs(weights, options.weight)
        is_usable &= weights > 0
    rows = np.flatnonzero(is_usable)
    return Roles(options, groups, times, weights).only(rows), rows, tuple(repairs)


def groups_in(column: pd.Series) -> tuple[Ints, int]:
    """Return codes of the groups, in the order of their values, and how many rows have none: these are one group."""
    if holds_floats(column):
        values = floats_of(column)
        return np.unique(values, return_inverse=True)[1].astype(np.int64), int(np.isnan(values).sum())
    words = words_of(column)
    order = np.argsort(np.array(words.words, dtype=object), kind="stable")
    places = np.empty(len(order) + 1, dtype=np.int64)
    places[order], places[-1] = np.arange(len(order)), len(order)
    return places[words.codes], int((words.codes < 0).sum())


def _times(column: pd.Series, name: str) -> Floats:
    times = times_in(column)
    if times is None:
        examples = ", ".join(repr(word) for word in words_of(column).words[:3])
        raise BadDataset(
            f"The column {name!r} holds no dates or numbers that can be ordered, but {examples[:60]}. "
            "Choose another with --time."
        )
    return times


def times_in(column: pd.Series) -> Floats | None:
    """Return the times of a column of dates or numbers, NaN where there is none; None if it holds neither."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _days(moments_of(column))
    if holds_floats(column):
        return without_extremes(floats_of(column))
    words = words_of(column)
    dates = find_dates(words)
    if dates is not None:
        return words.take(_days(parse_dates(words.words, dates.format)))
    numbers = numbers_of(words.words)
    is_stray = np.array([not is_absent(word) for word in words.words], dtype=bool) & np.isnan(numbers)
    return None if is_stray.any() else words.take(without_extremes(numbers))


def _days(moments: pd.DatetimeIndex) -> Floats:
    return np.asarray((moments - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1), dtype=np.float64)
