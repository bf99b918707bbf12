"""A Gaussian process: Matérn 5/2 with a length scale for each column, and noise (Rasmussen & Williams 2006)."""

from typing import NamedTuple, Self

import numpy as np

from metaml.arrays import Floats, Positions
from metaml.surrogates.base import Prediction, normal_prediction
from metaml.surrogates.targets import TARGETS
from metaml.system.threads import at_most_threads

ROOT_5 = 5.0**0.5
JITTER = 1e-6
INACTIVE = 0.5
"""The value of an inactive parameter on the unit interval; its parent's column shows that it is inactive."""


class HyperPrior(NamedTuple):
    """The normal prior of the logarithms of the hyperparameters: means and standard deviations."""

    length: float = 0.0
    length_sd: float = 1.0
    signal_sd: float = 1.0
    noise: float = -3.9
    noise_sd: float = 1.5


class GaussianProcess:
    """A Gaussian process on unit-cube columns with hyperparameters at their most probable value.

    `target` names the scale the scores are modelled in (see `targets`). Hyperparameters are tuned again at every row up
    to 20, then at every 5th, and from `max_rows` on at every 20th. Tuning always uses the first rows up to that point,
    so a fit depends on the rows alone and not on earlier fits. Of more than `max_rows` rows, the best and the latest
    are kept.
    """

    def __init__(
        self,
        *,
        target: str = "blend",
        n_iterations: int = 12,
        max_rows: int = 120,
        length_scale: float = 1.0 / 3.0,
        prior: HyperPrior | None = None,
    ) -> None:
        self.target = target
        self.n_iterations = n_iterations
        self.max_rows = max_rows
        self.length_scale = length_scale
        self.prior = prior or HyperPrior()
        self._tuned: tuple[bytes, Floats] | None = None

    def scaled(self, y: Floats) -> Floats:
        """Return scores in the modelled scale."""
        return TARGETS[self.target](y)

    def fit(self, X: Floats, y: Floats) -> Self:
        """Learn from rows and scores."""
        with at_most_threads(1):
            return self._fit(X, y)

    def predict(self, X: Floats) -> Prediction:
        """Return the posterior of the noise-free score."""
        with at_most_threads(1):
            return self._predict(X)

    def _fit(self, X: Floats, y: Floats) -> Self:
        n_tuning = len(y) - len(y) % self._tuned_every(len(y))
        tuning = _worth_keeping(y[:n_tuning], self.max_rows)
        kept = _worth_keeping(y, self.max_rows)
        self.low_, self.span_ = _scale(X[kept])
        self.theta_ = self._tune(self._unit(X[tuning]), y[tuning])
        self.X_ = self._unit(X[kept])
        self._condition(self.scaled(y)[kept])
        return self

    def _tuned_every(self, n: int) -> int:
        if n < 20:
            return 1
        return 5 if n < self.max_rows else 20

    def _predict(self, X: Floats) -> Prediction:
        from scipy.linalg import solve_triangular

        lengths, signal, _ = _unpack(self.theta_)
        cross = signal * _matern(_distance(self._unit(X) / lengths, self.X_ / lengths))
        mean = self.offset_ + cross @ self.alpha_
        half = solve_triangular(self.factor_, cross.T, lower=True, check_finite=False)
        variance = np.maximum(signal - np.einsum("ij,ij->j", half, half), 1e-12)
        return normal_prediction(mean, np.sqrt(variance))

    def _unit(self, X: Floats) -> Floats:
        unit = (X - self.low_) / self.span_
        return np.where(np.isnan(unit), INACTIVE, unit)

    def _condition(self, targets: Floats) -> None:
        from scipy.linalg import cho_solve

        lengths, signal, noise = _unpack(self.theta_)
        scaled = self.X_ / lengths
        covariance = signal * _matern(_distance(scaled, scaled))
        covariance[np.diag_indices_from(covariance)] += noise + JITTER
        self.factor_ = np.linalg.cholesky(covariance)
        self.offset_ = float(targets.mean())
        self.alpha_ = cho_solve((self.factor_, True), targets - self.offset_, check_finite=False)

    def _tune(self, X: Floats, y: Floats) -> Floats:
        key = X.tobytes() + y.tobytes()
        if self._tuned is not None and self._tuned[0] == key:
            return self._tuned[1]
        start = self._start(X.shape[1])
        targets = self.scaled(y)
        if np.ptp(targets) > 0:
            start = _Posterior(X, targets - targets.mean(), start, self._spread(X.shape[1])).maximum(self.n_iterations)
        self._tuned = (key, start)
        return start

    def _start(self, d: int) -> Floats:
        length = np.log(self.length_scale * np.sqrt(max(d, 1))) + self.prior.length
        return np.concatenate([np.full(d, length), [0.0, self.prior.noise]])

    def _spread(self, d: int) -> Floats:
        prior = self.prior
        return np.concatenate([np.full(d, prior.length_sd), [prior.signal_sd, prior.noise_sd]])


class _Posterior:
    """The log posterior of the hyperparameters, with its gradient."""

    def __init__(self, X: Floats, targets: Floats, centre: Floats, spread: Floats) -> None:
        self.targets = targets
        self.centre = centre
        self.spread = spread
        n, d = X.shape
        difference = X[:, np.newaxis, :] - X[np.newaxis, :, :]
        self.squared = np.ascontiguousarray((difference**2).reshape(n * n, d))
        self.n = n

    def maximum(self, n_iterations: int) -> Floats:
        """Return the hyperparameters after some steps of L-BFGS from the centre of the prior."""
        from scipy.optimize import minimize

        d = self.squared.shape[1]
        bounds = [(-4.0, 4.0)] * (d + 1) + [(-12.0, 1.0)]
        found = minimize(
            self.negative,
            self.centre,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": n_iterations},
        )
        return np.asarray(found.x, dtype=np.float64)

    def negative(self, theta: Floats) -> tuple[float, Floats]:
        """Return the negative log posterior and its gradient (Rasmussen & Williams 2006, eq. 5.8 and 5.9)."""
        from scipy.linalg import cho_factor, cho_solve
        from scipy.linalg.lapack import dpotri

        n = self.n
        lengths, signal, noise = _unpack(theta)
        inverse_squared = lengths**-2
        scaled = ROOT_5 * np.sqrt(self.squared @ inverse_squared)
        decay = np.exp(-scaled)
        kernel = (signal * (1.0 + scaled + scaled**2 / 3.0) * decay).reshape(n, n)
        covariance = kernel.copy()
        covariance.flat[:: n + 1] += noise + JITTER
        away = (theta - self.centre) / self.spread
        try:
            factor, _ = cho_factor(covariance, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return 1e10, away
        alpha = cho_solve((factor, True), self.targets, check_finite=False)
        value = 0.5 * float(self.targets @ alpha) + float(np.log(np.diag(factor)).sum()) + 0.5 * float(away @ away)
        inverse, _ = dpotri(factor, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        weight = np.outer(alpha, alpha) - inverse
        slope = (5.0 / 3.0 * signal) * ((1.0 + scaled) * decay) * weight.ravel()
        gradient = np.empty_like(theta)
        gradient[:-2] = -0.5 * (slope @ self.squared) * inverse_squared
        gradient[-2] = -0.5 * float(np.vdot(weight, kernel))
        gradient[-1] = -0.5 * noise * float(np.trace(weight))
        return value, gradient + away / self.spread


def _unpack(theta: Floats) -> tuple[Floats, float, float]:
    values = np.exp(theta)
    return values[:-2], float(values[-2]), float(values[-1])


def _distance(left: Floats, right: Floats) -> Floats:
    squared = (left**2).sum(axis=1)[:, np.newaxis] + (right**2).sum(axis=1) - 2.0 * (left @ right.T)
    distance: Floats = np.sqrt(np.maximum(squared, 0.0))
    return distance


def _matern(distance: Floats) -> Floats:
    scaled = ROOT_5 * distance
    kernel = scaled * scaled
    kernel /= 3.0
    kernel += scaled
    kernel += 1.0
    np.negative(scaled, out=scaled)
    kernel *= np.exp(scaled, out=scaled)
    return kernel


def _scale(X: Floats) -> tuple[Floats, Floats]:
    """Return offset and span that scale columns to the unit interval; columns inside it already stay as they are."""
    filled = np.where(np.isnan(X), INACTIVE, X)
    low, high = filled.min(axis=0), filled.max(axis=0)
    inside = (low >= -1e-9) & (high <= 1 + 1e-9)
    low = np.where(inside, 0.0, low)
    span = np.where(inside, 1.0, high - low)
    return low, np.where(span > 0, span, 1.0)


def _worth_keeping(y: Floats, n: int) -> Positions:
    """Return the rows to learn from: all if there are at most `n`, else half the best and half the latest."""
    if len(y) <= n:
        return np.arange(len(y))
    order = np.argsort(-y, kind="stable")
    best = order[: n // 2]
    rest = np.setdiff1d(np.arange(len(y)), best)
    return np.sort(np.concatenate([best, rest[len(rest) - (n - len(best)) :]]))
