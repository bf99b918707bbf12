"""Qualities as OpenML has stored them over the years, brought to the one scale that `describe` uses."""

from __future__ import annotations

import math
from collections.abc import Mapping

_PERCENTAGES = {
    "PercentageOfNumericFeatures": ("NumberOfNumericFeatures", "NumberOfFeatures"),
    "PercentageOfSymbolicFeatures": ("NumberOfSymbolicFeatures", "NumberOfFeatures"),
    "PercentageOfBinaryFeatures": ("NumberOfBinaryFeatures", "NumberOfFeatures"),
    "PercentageOfInstancesWithMissingValues": ("NumberOfInstancesWithMissingValues", "NumberOfInstances"),
    "MajorityClassPercentage": ("MajorityClassSize", "NumberOfInstances"),
    "MinorityClassPercentage": ("MinorityClassSize", "NumberOfInstances"),
}
_NEVER_NEGATIVE = (
    "MeanAttributeEntropy",
    "EquivalentNumberOfAtts",
    "MeanNoiseToSignalRatio",
    "MinNominalAttDistinctValues",
    "MeanNominalAttDistinctValues",
    "MaxNominalAttDistinctValues",
    "StdvNominalAttDistinctValues",
)


def repair_openml(qualities: Mapping[str, float]) -> dict[str, float]:
    """The same qualities with all percentages per cent and all placeholders NaN.

    OpenML's engine has stored percentages as fractions, as per cent, and mixed; they can be computed
    from the counts beside them. It has also stored -1 for "undefined" and 0 for the moments of no columns.

    >>> repair_openml({"MajorityClassPercentage": 0.6, "MajorityClassSize": 30, "NumberOfInstances": 50})[
    ...     "MajorityClassPercentage"
    ... ]
    60.0
    """
    repaired = {name: float(value) for name, value in qualities.items()}
    for name, (part, whole) in _PERCENTAGES.items():
        _rescale(repaired, name, repaired.get(part, math.nan), repaired.get(whole, math.nan))
    cells = repaired.get("NumberOfInstances", math.nan) * repaired.get("NumberOfFeatures", math.nan)
    missing = repaired.get("NumberOfMissingValues", math.nan)
    _rescale(repaired, "PercentageOfMissingValues", missing, cells)
    for name in _NEVER_NEGATIVE:
        if repaired.get(name, 0.0) < 0:
            repaired[name] = math.nan
    if repaired.get("NumberOfNumericFeatures") == 0:
        for name in repaired:
            if name.endswith("OfNumericAtts"):
                repaired[name] = math.nan
    return repaired


def _rescale(qualities: dict[str, float], name: str, part: float, whole: float) -> None:
    share = 100 * part / whole if whole else math.nan
    if name in qualities and math.isfinite(share):
        qualities[name] = share
