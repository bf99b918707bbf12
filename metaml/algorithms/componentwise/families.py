"""Families of distributions of a number: location and scale as two scores, fitted by their likelihood.

Thomas et al. (2018), "Gradient boosting for distributional regression". The curvature of a parameter is the mean of its
squared gradient, as in Fisher's information; steps stay short where the likelihood is steep.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from metaml.algorithms.base import Vector
from metaml.algorithms.componentwise.losses import LEAST_CURVATURE, Loss
from metaml.arrays import Floats

FamilyName = Literal["gaussian", "log_normal", "gamma", "negative_binomial"]
FAMILIES: tuple[FamilyName, ...] = ("gaussian", "log_normal", "gamma", "negative_binomial")
LARGEST_SCORE = 12.0
"""Logarithms of a scale beyond this count as this; exponentials stay finite."""
LARGEST_LOG_MEAN = 30.0


class Family(Loss, Protocol):
    """A loss whose scores are the parameters of a distribution."""

    def mean(self, scores: Floats) -> Floats:
        """Return the expected value of each row."""

    def quantile(self, scores: Floats, level: float) -> Floats:
        """Return the value that a row stays below with probability `level`."""


class _TwoParameters:
    """What the families share: two scores that move one at a time."""

    moves_together = False

    def target(self, y: Vector) -> Floats:
        """Return the numbers as one column."""
        return np.asarray(y, dtype=np.float64)[:, None]

    def _scaled(self, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        gradient = np.column_stack([first, second])
        return gradient, np.maximum(np.square(gradient).mean(axis=0), LEAST_CURVATURE)


def _clipped(scores: Floats) -> Floats:
    return np.asarray(np.clip(scores, -LARGEST_SCORE, LARGEST_SCORE))


class Gaussian(_TwoParameters):
    """Mean and logarithm of the standard deviation."""

    def start(self, target: Floats, weight: Floats) -> Floats:
        """Return the mean and the logarithm of the deviation of all rows."""
        mean = float(np.average(target[:, 0], weights=weight))
        variance = float(np.average(np.square(target[:, 0] - mean), weights=weight))
        return np.array([mean, 0.5 * np.log(max(variance, 1e-12))])

    def gradient(self, target: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return the slopes of the likelihood."""
        inverse = np.exp(-_clipped(scores[:, 1]))
        z = (target[:, 0] - scores[:, 0]) * inverse
        return self._scaled(z * inverse, np.square(z) - 1)

    def of_rows(self, target: Floats, scores: Floats) -> Floats:
        """Return the negative log likelihood of each row, up to a constant."""
        log_scale = _clipped(scores[:, 1])
        return np.asarray(log_scale + 0.5 * np.square((target[:, 0] - scores[:, 0]) * np.exp(-log_scale)))

    def mean(self, scores: Floats) -> Floats:
        """Return the mean."""
        return scores[:, 0]

    def quantile(self, scores: Floats, level: float) -> Floats:
        """Return the quantile."""
        from scipy.special import ndtri

        return np.asarray(scores[:, 0] + np.exp(_clipped(scores[:, 1])) * ndtri(level))


class Gamma(_TwoParameters):
    """Logarithms of mean and shape of a positive number."""

    def start(self, target: Floats, weight: Floats) -> Floats:
        """Return the logarithms of mean and shape by the moments of all rows."""
        mean = float(np.average(target[:, 0], weights=weight))
        variance = float(np.average(np.square(target[:, 0] - mean), weights=weight))
        return np.array([np.log(mean), np.clip(np.log(mean**2 / max(variance, 1e-12)), -5.0, 5.0)])

    def gradient(self, target: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return the slopes of the likelihood."""
        from scipy.special import digamma

        log_ratio, shape = self._parts(target, scores)
        ratio = np.exp(log_ratio)
        return self._scaled(shape * (ratio - 1), shape * (np.log(shape) + log_ratio + 1 - ratio - digamma(shape)))

    def of_rows(self, target: Floats, scores: Floats) -> Floats:
        """Return the negative log likelihood of each row."""
        from scipy.special import gammaln

        log_ratio, shape = self._parts(target, scores)
        log_likelihood = shape * (np.log(shape) + log_ratio - np.exp(log_ratio)) - gammaln(shape)
        return np.asarray(np.log(target[:, 0]) - log_likelihood)

    def _parts(self, target: Floats, scores: Floats) -> tuple[Floats, Floats]:
        log_ratio = np.clip(np.log(target[:, 0]) - scores[:, 0], -LARGEST_LOG_MEAN, LARGEST_LOG_MEAN)
        return log_ratio, np.exp(_clipped(scores[:, 1]))

    def mean(self, scores: Floats) -> Floats:
        """Return the mean."""
        return np.exp(np.clip(scores[:, 0], -LARGEST_LOG_MEAN, LARGEST_LOG_MEAN))

    def quantile(self, scores: Floats, level: float) -> Floats:
        """Return the quantile."""
        from scipy.special import gammaincinv

        shape = np.exp(_clipped(scores[:, 1]))
        return np.asarray(self.mean(scores) * gammaincinv(shape, level) / shape)


class NegativeBinomial(_TwoParameters):
    """Logarithms of mean and dispersion of a count: its variance is mean + dispersion × mean²."""

    def start(self, target: Floats, weight: Floats) -> Floats:
        """Return the logarithms of mean and dispersion by the moments of all rows."""
        mean = max(float(np.average(target[:, 0], weights=weight)), 1e-3)
        variance = float(np.average(np.square(target[:, 0] - mean), weights=weight))
        return np.array([np.log(mean), np.log(np.clip((variance - mean) / mean**2, 0.01, 10.0))])

    def gradient(self, target: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return the slopes of the likelihood."""
        from scipy.special import digamma

        y, mean, size = self._parts(target, scores)
        slope = digamma(y + size) - digamma(size) + np.log(size / (size + mean)) + (mean - y) / (size + mean)
        return self._scaled((y - mean) * size / (size + mean), -size * slope)

    def of_rows(self, target: Floats, scores: Floats) -> Floats:
        """Return the negative log likelihood of each row."""
        from scipy.special import gammaln

        y, mean, size = self._parts(target, scores)
        log_likelihood = gammaln(y + size) - gammaln(size) - gammaln(y + 1)
        log_likelihood += size * np.log(size / (size + mean)) + y * np.log(mean / (size + mean))
        return np.asarray(-log_likelihood)

    def _parts(self, target: Floats, scores: Floats) -> tuple[Floats, Floats, Floats]:
        return target[:, 0], self.mean(scores), np.exp(-np.clip(scores[:, 1], -8.0, 8.0))

    def mean(self, scores: Floats) -> Floats:
        """Return the mean."""
        return np.exp(np.clip(scores[:, 0], -LARGEST_LOG_MEAN, LARGEST_LOG_MEAN))

    def quantile(self, scores: Floats, level: float) -> Floats:
        """Return the quantile, a whole number."""
        from scipy.stats import nbinom

        _, mean, size = self._parts(scores[:, :1], scores)
        return np.asarray(nbinom.ppf(level, size, size / (size + mean)), dtype=np.float64)


def family_for(name: str, y: Vector) -> FamilyName:
    """Return a family if it allows for these numbers, else the Gaussian one.

    >>> family_for("gamma", np.array([1.0, 2.0])), family_for("gamma", np.array([0.0, 2.0]))
    ('gamma', 'gaussian')
    >>> family_for("negative_binomial", np.array([0.0, 3.0]))
    'negative_binomial'
    """
    if name == "negative_binomial" and (y >= 0).all() and (y == np.round(y)).all() and y.max() < 1e9:
        return "negative_binomial"
    # Squares and ratios of extreme numbers would not be finite.
    if name in ("log_normal", "gamma") and (y > 1e-100).all() and (y < 1e100).all():
        return "gamma" if name == "gamma" else "log_normal"
    return "gaussian"


def family_named(name: FamilyName) -> Family:
    """Return a family; log-normal numbers are Gaussian once their logarithm was taken."""
    if name == "gamma":
        return Gamma()
    return NegativeBinomial() if name == "negative_binomial" else Gaussian()
