"""What a model takes: objectives that are compared on a logarithmic scale."""

import numpy as np

from metaml.arrays import Array, Floats

RESOURCES = {"fit_seconds": 1e-9, "predict_seconds": 1e-9, "model_bytes": 1e-9, "n_columns": 0.5}
"""Each with the smallest amount that the scale tells from less."""


def log_amounts(name: str, amounts: Array) -> Floats:
    """Return amounts of a resource on the scale on which they are compared.

    >>> log_amounts("fit_seconds", np.array([0.0, 10.0])).tolist()
    [-9.0, 1.0]
    """
    logs: Floats = np.log10(np.maximum(np.asarray(amounts, dtype=np.float64), RESOURCES[name]))
    return logs
