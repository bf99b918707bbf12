"""Summarises many simulations: means within each data set first, then means and standard errors over data sets."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from metaml.arrays import Floats

Levels = Mapping[str, float]
"""One number for each data set: a mean over seeds."""


class Estimate(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float


def level(values: Levels) -> Estimate:
    """Return the mean over data sets."""
    return _estimate(np.array(list(values.values())))


def paired_difference(values: Levels, reference: Levels) -> Estimate:
    """Return the mean of value minus reference over the data sets both have.

    >>> paired_difference({"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 2.0})
    Estimate(mean=0.0, error=1.0)
    """
    return _estimate(np.array([values[name] - reference[name] for name in values if name in reference]))


def ratio(values: Levels, reference: Levels) -> float:
    """Return the mean value over the mean reference, on the data sets both have."""
    shared = [name for name in values if name in reference]
    return float(np.mean([values[name] for name in shared]) / np.mean([reference[name] for name in shared]))


def mean_estimate(estimates: list[Estimate]) -> Estimate:
    """Return the mean of independent estimates."""
    errors = np.array([e.error for e in estimates])
    return Estimate(float(np.mean([e.mean for e in estimates])), float(np.sqrt((errors**2).sum()) / len(errors)))


def _estimate(values: Floats) -> Estimate:
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
    return Estimate(float(values.mean()), error)
