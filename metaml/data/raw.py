"""A table as read from a file: the frame, and the repairs needed to read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from metaml.data.columns import Repair


@dataclass(frozen=True, eq=False)
class RawTable:
    """A raw frame and the repairs made while reading it.

    Without a header, columns are named by their position. `decimal_commas` are the positions of the columns whose
    numbers have decimal commas. `codes` maps the position of a column of codes such as 007 to its original text, and
    that of a column of huge integers with missing cells to those integers.
    """

    frame: pd.DataFrame
    repairs: tuple[Repair, ...] = ()
    has_header: bool = True
    decimal_commas: tuple[int, ...] = ()
    codes: Mapping[int, pd.Series] = field(default_factory=dict)
