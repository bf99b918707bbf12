"""The regression group, in our own names: how a numeric target is spread and how columns relate to it.

OpenML has no such qualities. For class targets all of them are undefined.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from metaml.arrays import Floats
from metaml.metafeatures.statistical import moments
from metaml.metafeatures.view import Ints, View, n_distinct_values

NAMES = (
    "TargetSkewness",
    "TargetKurtosis",
    "TargetCoefficientOfVariation",
    "TargetDistinctShare",
    "TargetOutlierShare",
    "TargetAutoCorrelation",
    "MeanAbsCorrelationWithTarget",
    "MaxAbsCorrelationWithTarget",
    "MeanCorrelationRatioWithTarget",
    "MaxCorrelationRatioWithTarget",
)


def regression(view: View) -> Iterator[tuple[str, float | str]]:
    """Each quality of a regression target.

    Coefficient of variation: standard deviation over absolute mean. Distinct share: different values per
    row. Outlier share: rows beyond 1.5 interquartile ranges of the quartiles. Autocorrelation: Pearson,
    one row apart. Correlation: absolute Pearson, numeric columns. Correlation ratio: the share of the
    target's variance that lies between the levels of a categorical column.
    """
    if not view.is_regression:
        for name in NAMES:
            yield name, "class target"
        return
    y = view.y.astype(np.float64)
    means, deviations, skewness, kurtosis = (float(values[0]) for values in moments(y[:, None]))
    constant = "the target is constant"
    yield "TargetSkewness", skewness if np.isfinite(skewness) else f"fewer than three rows, or {constant}"
    yield "TargetKurtosis", kurtosis if np.isfinite(kurtosis) else f"fewer than four rows, or {constant}"
    yield (
        "TargetCoefficientOfVariation",
        deviations / abs(means) if abs(means) > 1e-12 * deviations else "the target's mean is zero",
    )
    yield "TargetDistinctShare", float(n_distinct_values(y[:, None])[0]) / y.size
    low, high = np.quantile(y, [0.25, 0.75])
    fence = 1.5 * (high - low)
    yield "TargetOutlierShare", float(np.mean((y < low - fence) | (y > high + fence)))
    lagged = float(_correlations(y[:-1, None], y[1:])[0]) if y.size > 2 else np.nan
    yield "TargetAutoCorrelation", lagged if np.isfinite(lagged) else f"fewer than three rows, or {constant}"
    yield from _summed_up(
        "AbsCorrelation",
        np.abs(_correlations(view.numbers, y)),
        "no numeric column that varies with the target",
    )
    yield from _summed_up(
        "CorrelationRatio",
        _correlation_ratios(view.codes, y),
        "no categorical column, or the target is constant",
    )


def _summed_up(what: str, values: Floats, reason: str) -> Iterator[tuple[str, float | str]]:
    finite = values[np.isfinite(values)]
    yield f"Mean{what}WithTarget", float(finite.mean()) if finite.size else reason
    yield f"Max{what}WithTarget", float(finite.max()) if finite.size else reason


def _correlations(numbers: Floats, y: Floats) -> Floats:
    """Pearson correlation of each column with the target over the rows where the column is known."""
    known = ~np.isnan(numbers)
    n = known.sum(axis=0)
    with np.errstate(all="ignore"):
        x = np.where(known, numbers - np.nansum(numbers, axis=0) / n, 0.0)
        x /= np.abs(x).max(axis=0, initial=0.0)
        y = y - y.mean()
        y = y / np.abs(y).max(initial=0.0)
        t = np.where(known, y[:, None] - (known * y[:, None]).sum(axis=0) / n, 0.0)
        correlations: Floats = (x * t).sum(axis=0) / np.sqrt((x**2).sum(axis=0) * (t**2).sum(axis=0))
    correlations[n < 3] = np.nan
    return np.clip(correlations, -1.0, 1.0)


def _correlation_ratios(codes: Ints, y: Floats) -> Floats:
    centred = y - y.mean()
    width = np.abs(centred).max(initial=0.0)
    ratios = np.full(codes.shape[1], np.nan)
    if width == 0:
        return ratios
    centred = centred / width
    for position, column in enumerate(codes.T):
        known = column >= 0
        if np.count_nonzero(known) < 3:
            continue
        values = centred[known] - centred[known].mean()
        n = np.bincount(column[known])
        sums = np.bincount(column[known], weights=values)
        total = float((values**2).sum())
        if total > 0:
            ratios[position] = float((sums**2 / np.maximum(n, 1)).sum()) / total
    return ratios
