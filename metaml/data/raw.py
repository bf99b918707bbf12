"""A table as read: the frame, and what had to be mended to read it."""

from dataclasses import dataclass

import pandas as pd

from metaml.data.columns import Repair


@dataclass(frozen=True, eq=False)
class RawTable:
    """A raw frame and the repairs made while reading it; without a header its columns are named by their position."""

    frame: pd.DataFrame
    repairs: tuple[Repair, ...] = ()
    has_header: bool = True
