"""A source of data sets: it gives a name at once, and loads the data on request."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from metaml.data import Dataset


@dataclass(frozen=True, eq=False)
class Loaded:
    """A data set and what its source knows of it besides.

    `folds` is the fold of each row where the source prescribes them, as OpenML's tasks do. `qualities` are
    metafeatures that the source computed. `details` is plain JSON that is kept with the data set.
    """

    dataset: Dataset
    origin: str = "file"
    folds: npt.NDArray[np.int16] | None = None
    qualities: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """A data set that can be loaded. `load` raises BadDataset or SourceError where that fails."""

    name: str
    load: Callable[[], Loaded]
