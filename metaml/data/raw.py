"""A table as read: the frame, and what had to be mended to read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from metaml.data.columns import Repair


@dataclass(frozen=True, eq=False)
class RawTable:
    """A raw frame and the repairs made while reading it.

    Without a header its columns are named by their position. `decimal_commas` are the places of the columns whose
    numbers were written the European way; `codes` are columns of numbers such as 007, by their place, as spelled.
    """

    frame: pd.DataFrame
    repairs: tuple[Repair, ...] = ()
    has_header: bool = True
    decimal_commas: tuple[int, ...] = ()
    codes: Mapping[int, pd.Series] = field(default_factory=dict)
