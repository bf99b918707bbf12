"""Types of arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
