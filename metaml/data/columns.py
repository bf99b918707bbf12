"""What kind a column is, and which repairs were made to a table."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["numeric", "category", "boolean", "date", "text", "constant"]
"""What a raw column holds. `text` is free text or an identifier; it is not used, nor is `constant`."""


@dataclass(frozen=True)
class Column:
    """A column as found in the raw file."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Repair:
    """One change made to the raw data, and its reason; `column` is None if it concerns the whole file."""

    column: str | None
    what: str
    why: str

    def __str__(self) -> str:
        where = f"{self.column}: " if self.column is not None else ""
        return f"{where}{self.what} ({self.why})"


def with_noun(number: int, noun: str) -> str:
    """Return a number and its noun, plural unless the number is 1.

    >>> with_noun(1, "row"), with_noun(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
