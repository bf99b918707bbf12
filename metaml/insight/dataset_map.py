"""A map of data sets: those with similar metafeatures are near each other."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

LEAST_KNOWN = 0.5
CLIPPED = 4.0


@dataclass(frozen=True, eq=False)
class DatasetMap:
    """Coordinates of data sets (`places`: columns x and y, by fingerprint).

    `explained` is the share of the variance of the metafeatures that each axis shows. `leading` names for each axis the
    metafeatures that it depends on most.
    """

    places: pd.DataFrame
    explained: tuple[float, float]
    leading: tuple[tuple[str, ...], tuple[str, ...]]


def map_datasets(metafeatures: pd.DataFrame, *, n_leading: int = 3) -> DatasetMap:
    """Return the two main axes (principal components) of the metafeatures (columns) of data sets (rows).

    Metafeatures enter as ranks turned into normal quantiles, so that no extreme value decides. Those that are known for
    less than half of the data sets, or that never vary, are left out; what is missing is put in the middle. Needs three
    data sets and two metafeatures; with less, all places are zero.
    """
    from scipy.special import ndtri

    table = metafeatures.astype(np.float64).replace([np.inf, -np.inf], np.nan)
    table = table.loc[:, (table.notna().mean() >= LEAST_KNOWN) & (table.nunique() > 1)]
    empty = pd.DataFrame(0.0, index=metafeatures.index, columns=["x", "y"])
    if len(table) < 3 or table.shape[1] < 2:
        return DatasetMap(empty, (0.0, 0.0), ((), ()))
    shares = (table.rank() - 0.5) / table.notna().sum()
    values = np.clip(np.nan_to_num(ndtri(shares.to_numpy(np.float64))), -CLIPPED, CLIPPED)
    values = values - values.mean(axis=0)
    values /= np.maximum(values.std(axis=0), 1e-12)
    left, sizes, axes = np.linalg.svd(values, full_matrices=False)
    # The sign of an axis is arbitrary: let its largest weight be positive, so that maps look the same everywhere.
    signs = np.sign(axes[[0, 1], np.abs(axes[:2]).argmax(axis=1)])
    places = left[:, :2] * sizes[:2] * signs
    explained = np.square(sizes) / max(float(np.square(sizes).sum()), 1e-12)
    names = [str(name) for name in table.columns]
    leading = [tuple(names[k] for k in np.argsort(-np.abs(axis), kind="stable")[:n_leading]) for axis in axes[:2]]
    frame = pd.DataFrame(places, index=metafeatures.index, columns=["x", "y"])
    return DatasetMap(frame, (float(explained[0]), float(explained[1])), (leading[0], leading[1]))
