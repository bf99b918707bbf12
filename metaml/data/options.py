"""What a user says about columns: which are used and as what, and which group, order or weigh rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from metaml.errors import BadRequest

Names = str | Iterable[str]
"""Names of columns: a list, or a text with commas."""
Ordinal = str | Iterable[str] | Mapping[str, Sequence[object]]
"""Levels by column, such as {"size": ["S", "M", "L"]}, or texts such as "size:S<M<L"."""


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """What is said about the columns of a table; nothing by default.

    `group`: rows with the same value belong together, and no group is both trained on and tested. The column is no
    feature, unless `keeps_group`. `time`: models are tested on rows that are later than those they were trained on.
    `weight`: how much a row counts, in learning and in every score; it is no feature.

    `columns`: the only columns that may be features; empty means all. `categorical`, `numeric`: columns to read as
    categories, or as numbers, whatever they look like. `ordinal`: pairs of a column and its levels, lowest first.
    `increasing`, `decreasing`: columns with which the prediction may only rise, or only fall.
    """

    group: str | None = None
    keeps_group: bool = False
    time: str | None = None
    weight: str | None = None
    columns: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    ordinal: tuple[tuple[str, tuple[str, ...]], ...] = ()
    increasing: tuple[str, ...] = ()
    decreasing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.keeps_group and self.group is None:
            raise BadRequest("There is no group column to keep. Name it with --group, or leave out --keep-group.")

    @property
    def directions(self) -> dict[str, int]:
        """Return the constrained columns: 1 where the prediction may only rise with the column, -1 where only fall.

        >>> ColumnOptions(increasing=("rooms",), decreasing=("age",)).directions
        {'rooms': 1, 'age': -1}
        """
        return dict.fromkeys(self.increasing, 1) | dict.fromkeys(self.decreasing, -1)

    def as_json(self) -> dict[str, Any]:
        """Return what is said, as plain JSON: only what differs from the default."""
        own = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in own.items() if value != default}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any] | None) -> ColumnOptions:
        """Return the options that `as_json` described.

        >>> ColumnOptions.from_json(ColumnOptions(time="day").as_json()).time
        'day'
        """
        return cls(**{name: _frozen(value) for name, value in (plain or {}).items()})


NO_OPTIONS = ColumnOptions()


def column_options(
    *,
    columns: Names = (),
    categorical: Names = (),
    numeric: Names = (),
    ordinal: Ordinal = (),
    increasing: Names = (),
    decreasing: Names = (),
    **others: Any,
) -> ColumnOptions:
    """Return the options for what a caller says; names and levels are still as they were given.

    >>> column_options(columns="age, income", ordinal="size:S<M<L").ordinal
    (('size', ('S', 'M', 'L')),)
    """
    return ColumnOptions(
        columns=_texts(columns),
        categorical=_texts(categorical),
        numeric=_texts(numeric),
        ordinal=_levels(ordinal),
        increasing=_texts(increasing),
        decreasing=_texts(decreasing),
        **others,
    )


def _texts(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(str(name) for name in names or ())


def _levels(ordinal: Ordinal) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if isinstance(ordinal, Mapping):
        return tuple((str(name), tuple(str(level) for level in levels)) for name, levels in ordinal.items())
    return tuple(_parsed(text) for text in _texts(ordinal))


def _parsed(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the column and the levels in a text such as "size:S<M<L"."""
    before, _, after = text.partition("<")
    name, colon, first = before.partition(":")
    if not colon or not after:
        raise BadRequest(f"{text!r} names no levels in order. Write the column and its levels as 'size:S<M<L'.")
    return name.strip(), tuple(level.strip() for level in (first, *after.split("<")))


def _frozen(value: Any) -> Any:
    """Return lists, also within lists, as tuples."""
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value
