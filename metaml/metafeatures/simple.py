"""The simple group: counts and shares. As at OpenML the target is a feature and shares are per cent."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from metaml.metafeatures.view import View, n_distinct_values

OF_CLASSES = (
    "MajorityClassSize",
    "MinorityClassSize",
    "MajorityClassPercentage",
    "MinorityClassPercentage",
    "DefaultAccuracy",
    "AutoCorrelation",
)
OF_LEVELS = (
    "MinNominalAttDistinctValues",
    "MeanNominalAttDistinctValues",
    "MaxNominalAttDistinctValues",
    "StdvNominalAttDistinctValues",
)
NAMES = (
    "NumberOfInstances",
    "NumberOfFeatures",
    "NumberOfClasses",
    "Dimensionality",
    "NumberOfNumericFeatures",
    "NumberOfSymbolicFeatures",
    "NumberOfBinaryFeatures",
    "PercentageOfNumericFeatures",
    "PercentageOfSymbolicFeatures",
    "PercentageOfBinaryFeatures",
    "NumberOfMissingValues",
    "NumberOfInstancesWithMissingValues",
    "PercentageOfMissingValues",
    "PercentageOfInstancesWithMissingValues",
    *OF_CLASSES,
    *OF_LEVELS,
)


def simple(view: View) -> Iterator[tuple[str, float | str]]:
    """Each simple quality with its value, or with the reason why it has none."""
    n_rows, n_features = view.n_rows, view.n_columns + 1
    levels = n_distinct_values(view.codes).tolist()
    if not view.is_regression:
        levels.append(view.n_classes)
    n_symbolic = len(levels)
    n_binary = levels.count(2)
    missing = np.isnan(view.numbers).sum(axis=1) + (view.codes < 0).sum(axis=1)
    yield "NumberOfInstances", n_rows
    yield "NumberOfFeatures", n_features
    yield "NumberOfClasses", view.n_classes
    yield "Dimensionality", n_features / n_rows
    yield "NumberOfNumericFeatures", n_features - n_symbolic
    yield "NumberOfSymbolicFeatures", n_symbolic
    yield "NumberOfBinaryFeatures", n_binary
    yield "PercentageOfNumericFeatures", 100 * (n_features - n_symbolic) / n_features
    yield "PercentageOfSymbolicFeatures", 100 * n_symbolic / n_features
    yield "PercentageOfBinaryFeatures", 100 * n_binary / n_features
    yield "NumberOfMissingValues", float(missing.sum())
    yield "NumberOfInstancesWithMissingValues", float(np.count_nonzero(missing))
    yield "PercentageOfMissingValues", 100 * float(missing.sum()) / (n_rows * n_features)
    yield "PercentageOfInstancesWithMissingValues", 100 * np.count_nonzero(missing) / n_rows
    yield from _classes(view)
    yield from _distinct_values(np.array(levels, dtype=np.float64))


def _classes(view: View) -> Iterator[tuple[str, float | str]]:
    if view.is_regression:
        yield from ((name, "regression target") for name in OF_CLASSES)
        return
    sizes = np.bincount(view.y.astype(np.int64))
    sizes = sizes[sizes > 0]
    yield "MajorityClassSize", float(sizes.max())
    yield "MinorityClassSize", float(sizes.min())
    yield "MajorityClassPercentage", 100 * float(sizes.max()) / view.n_rows
    yield "MinorityClassPercentage", 100 * float(sizes.min()) / view.n_rows
    yield "DefaultAccuracy", float(sizes.max()) / view.n_rows
    if view.n_rows > 1:
        yield "AutoCorrelation", float(np.mean(view.y[1:] == view.y[:-1]))
    else:
        yield "AutoCorrelation", "a single row"


def _distinct_values(levels: np.ndarray) -> Iterator[tuple[str, float | str]]:
    if not levels.size:
        yield from ((name, "no categorical columns") for name in OF_LEVELS)
        return
    yield "MinNominalAttDistinctValues", float(levels.min())
    yield "MeanNominalAttDistinctValues", float(levels.mean())
    yield "MaxNominalAttDistinctValues", float(levels.max())
    yield "StdvNominalAttDistinctValues", float(levels.std(ddof=1)) if levels.size > 1 else 0.0
