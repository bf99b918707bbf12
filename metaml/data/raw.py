"""A table as read: the frame, and what had to be mended to read it."""

from dataclasses import dataclass

import pandas as pd

from metaml.data.columns import Repair


@dataclass(frozen=True, eq=False)
class RawTable:
    """A raw frame and the repairs made while reading it.

    Without a header its columns are named by their position. `decimal_commas` are the places of the columns whose
    numbers were written the European way.
    """

    frame: pd.DataFrame
    repairs: tuple[Repair, ...] = ()
    has_header: bool = True
    decimal_commas: tuple[int, ...] = ()
