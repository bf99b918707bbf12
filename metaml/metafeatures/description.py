"""What a data set is like: its metafeatures, the reasons for those it lacks, and what they cost."""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from metaml.metafeatures.group import Group
from metaml.metafeatures.view import View, small_sample, view_of
from metaml.system.threads import importing

if TYPE_CHECKING:
    from metaml.data import Dataset

OUT_OF_TIME = "time allowance used up"

_UNLIMITED_SECONDS = 10.0
"""The most estimated seconds of a group, even without a time allowance; larger data sets are subsampled."""
_LOADING_SECONDS = 2.0


@dataclass(frozen=True)
class Description:
    """The metafeatures of a data set. Every registered name has a value; NaN ones have a reason."""

    values: dict[str, float]
    reasons: dict[str, str]
    seconds: dict[str, float]
    """The measured seconds of each group."""
    n_rows_used: dict[str, int]
    n_columns_used: dict[str, int] = field(default_factory=dict)


class _Notes:
    """A description that is being filled."""

    def __init__(self, groups: Mapping[str, Group]) -> None:
        names = [name for group in groups.values() for name in group.names]
        self.values = dict.fromkeys(names, math.nan)
        self.reasons = dict.fromkeys(names, OUT_OF_TIME)
        self.seconds = dict.fromkeys(groups, 0.0)
        self.n_rows_used = dict.fromkeys(groups, 0)
        self.n_columns_used = dict.fromkeys(groups, 0)

    def put(self, name: str, value: float | str) -> None:
        if isinstance(value, str):
            self.reasons[name] = value
        elif math.isfinite(value):
            self.values[name] = float(value)
            del self.reasons[name]
        else:
            self.reasons[name] = "the value is not finite"

    def give_up(self, group: Group, error: Exception) -> None:
        for name in group.names:
            if self.reasons.get(name) == OUT_OF_TIME:
                self.reasons[name] = f"could not be computed: {type(error).__name__}: {error}"


def describe_with(groups: Mapping[str, Group], dataset: Dataset, seconds: float | None) -> Description:
    """The description by these groups, in their order, within the time allowance."""
    start = time.perf_counter()
    notes = _Notes(groups)
    view: View | None = None
    for key, group in groups.items():
        begun = time.perf_counter()
        try:
            if view is None:
                view = view_of(dataset)
            _run(key, group, view, notes, start, seconds)
        except Exception as error:
            notes.give_up(group, error)
        notes.seconds[key] = time.perf_counter() - begun
    return Description(notes.values, notes.reasons, notes.seconds, notes.n_rows_used, notes.n_columns_used)


def _run(key: str, group: Group, view: View, notes: _Notes, start: float, seconds: float | None) -> None:
    """Store the group's values as they come; stop when the next one would probably miss the deadline."""
    deadline = math.inf if seconds is None or group.is_free else start + seconds
    if not _load(group.libraries, deadline):
        return
    planned = _UNLIMITED_SECONDS if seconds is None else min(seconds * group.share, _UNLIMITED_SECONDS)
    part = small_sample(view, *group.affordable(view, planned))
    slowest = 0.0
    found = group.compute(part)
    while (now := time.perf_counter()) + 1.5 * slowest < deadline:
        pair = next(found, None)
        if pair is None:
            break
        notes.put(*pair)
        notes.n_rows_used[key], notes.n_columns_used[key] = part.n_rows, part.n_columns
        slowest = max(slowest, time.perf_counter() - now)


def _load(libraries: tuple[str, ...], deadline: float) -> bool:
    """Import what a group needs, unless that alone would take too long."""
    missing = [library for library in libraries if library not in sys.modules]
    if missing and time.perf_counter() + _LOADING_SECONDS > deadline:
        return False
    with importing:
        for library in missing:
            importlib.import_module(library)
    return True
