"""How far apart data sets are by their metafeatures, and which are the nearest."""

import numpy as np

from metaml.arrays import Floats, Positions
from metaml.metafeatures.similarity import COMPARED, on_scale
from metaml.metalearning.history import RunHistory
from metaml.metalearning.meta_learner import Metafeatures


def distances(history: RunHistory, metafeatures: Metafeatures) -> Floats:
    """Return the L1 distance of each data set to the given metafeatures, each scaled to [0, 1].

    Uses the eleven metafeatures of van Hoof (2018), table 6.3, with counts as logarithms; if none of them is known, all
    others. A missing metafeature counts as the median. If nothing is known, all distances are 0.
    """
    known = [
        str(name)
        for name in history.metafeatures.columns
        if np.isfinite(metafeatures.get(name, np.nan)) and history.metafeatures[name].notna().any()
    ]
    names = [name for name in known if name in COMPARED] or known
    table = on_scale(history.metafeatures[names].to_numpy(np.float64), names)
    asked = on_scale(np.array([[float(metafeatures[name]) for name in names]]), names)[0]
    useful = np.isfinite(table).any(axis=0) & np.isfinite(asked)
    table, asked = table[:, useful], asked[useful]
    if not table.shape[1]:
        return np.zeros(history.n_datasets)
    middle = np.nanmedian(table, axis=0)
    table = np.where(np.isnan(table), middle, table)
    low, high = np.minimum(table.min(axis=0), asked), np.maximum(table.max(axis=0), asked)
    span = np.where(high > low, high - low, 1.0)
    total: Floats = np.abs((table - asked) / span).sum(axis=1)
    return total


def nearest_datasets(history: RunHistory, metafeatures: Metafeatures, k: int) -> Positions:
    """Return the positions of the `k` nearest data sets, the nearest first."""
    return np.argsort(distances(history, metafeatures), kind="stable")[:k]
