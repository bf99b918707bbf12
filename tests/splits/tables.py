"""Small data sets with groups and times."""

from dataclasses import replace

import numpy as np

from metaml.data.options import ColumnOptions
from metaml.data.roles import Roles


def with_roles(dataset, groups=None, times=None):
    options = ColumnOptions(group=None if groups is None else "g", time=None if times is None else "t")
    as_codes = None if groups is None else np.asarray(groups, dtype=np.int64)
    as_times = None if times is None else np.asarray(times, dtype=np.float64)
    return replace(dataset, roles=Roles(options, as_codes, as_times))
