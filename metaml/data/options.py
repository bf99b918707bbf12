"""What a user says about columns: which one groups rows, orders them in time or weighs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from metaml.errors import BadRequest


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """What is said about the columns of a table; nothing by default.

    `group`: rows with the same value belong together, and no group is both trained on and tested. The column is no
    feature, unless `keeps_group`. `time`: models are tested on rows that are later than those they were trained on.
    """

    group: str | None = None
    keeps_group: bool = False
    time: str | None = None

    def __post_init__(self) -> None:
        if self.keeps_group and self.group is None:
            raise BadRequest("There is no group column to keep. Name it with --group, or leave out --keep-group.")

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
        said: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in (plain or {}).items()
        }
        return cls(**said)


NO_OPTIONS = ColumnOptions()
