"""A Gaussian process over configurations whose prior is the knowledge base.

The prior mean comes from the meta-learner. The covariance is that of the scores over the data sets of the knowledge
base, plus a small Matérn term for what no data set has shown. The level (mean) and unit (scale) of the new data set are
unknown. The level is a constant of large variance; the unit is averaged over a grid, weighted by the evidence.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from metaml.arrays import Floats, Positions

LEVEL_VARIANCE = 100.0


@dataclass(frozen=True)
class Beliefs:
    """Weights of the parts of the prior, in standard deviations of a data set. Tuned on openml100-sklearn."""

    experience: float = 1.0
    matern: float = 0.05
    length: float = 0.5
    noise: float = 0.03
    mean_votes: tuple[float, ...] = (1.0, 0.5, 0.0)
    vote_priors: tuple[float, ...] = (0.6, 0.25, 0.15)
    n_units: int = 9


@dataclass(frozen=True, eq=False)
class Points:
    """Configurations as inputs of the process: encoded rows, components of the landscape, and the prior mean."""

    rows: Floats
    components: Floats
    mean: Floats

    def take(self, places: Positions) -> "Points":
        """Return some of the points."""
        return Points(self.rows[places], self.components[places], self.mean[places])


class ExperienceProcess:
    """The Gaussian process; `log_unit` is the mean and standard deviation of log(unit) over known data sets."""

    def __init__(self, log_unit: tuple[float, float], beliefs: Beliefs | None = None) -> None:
        self.beliefs = beliefs or Beliefs()
        self.log_unit = log_unit

    def fit(self, points: Points, y: Floats) -> Self:
        """Learn from at least one evaluated point."""
        beliefs = self.beliefs
        self.points_ = points
        self.centre_ = float(y.mean())
        self.best_ = float(y.max()) - self.centre_
        deviation = y - self.centre_
        K = self._covariance(points, points)
        K[np.diag_indices_from(K)] += beliefs.noise
        self.inverse_ = np.linalg.inv(K)
        self.from_y_ = self.inverse_ @ deviation
        self.from_mean_ = self.inverse_ @ points.mean
        mean, sd = self.log_unit
        if len(y) > 1 and np.ptp(y) > 0:
            # A data set can differ from all known ones: the grid always includes the observed unit.
            seen = float(np.log(y.std()))
            low, high = min(mean - 2 * sd, seen), max(mean + 2 * sd, seen)
        else:
            low, high = mean - 2 * sd, mean + 2 * sd
        logs = np.linspace(low, high, beliefs.n_units)
        units, votes = np.exp(logs), np.array(beliefs.mean_votes)
        U, G = units[:, np.newaxis], votes[np.newaxis]
        fit = (
            deviation @ self.from_y_ / U**2
            - 2 * G * (points.mean @ self.from_y_) / U
            + G**2 * (points.mean @ self.from_mean_)
        )
        prior = -0.5 * ((logs - mean) / max(sd, 1e-3)) ** 2
        evidence = -0.5 * fit - len(y) * np.log(U) + prior[:, np.newaxis] + np.log(beliefs.vote_priors)[np.newaxis]
        weights = np.exp(evidence - evidence.max())
        self.weights_ = weights / weights.sum()
        self.units_, self.votes_ = units, votes
        return self

    def predict(self, points: Points) -> tuple[Floats, Floats, Floats]:
        """Return the expected score of each point, its standard deviation, and its expected improvement."""
        from scipy.special import ndtr

        k = self._covariance(points, self.points_)
        by_y, by_mean = k @ self.from_y_, points.mean - k @ self.from_mean_
        variance = self._variance(points) - np.einsum("ij,ij->i", k @ self.inverse_, k)
        std = np.sqrt(np.maximum(variance, 1e-9))
        mean, square, improvement = np.zeros(len(k)), np.zeros(len(k)), np.zeros(len(k))
        for i, unit in enumerate(self.units_):
            for j, vote in enumerate(self.votes_):
                weight = self.weights_[i, j]
                if weight < 1e-6:
                    continue
                raw = by_y + vote * unit * by_mean
                spread = unit * std
                z = (raw - self.best_) / spread
                density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
                mean += weight * raw
                square += weight * (raw**2 + spread**2)
                improvement += weight * spread * (z * ndtr(z) + density)
        return mean + self.centre_, np.sqrt(np.maximum(square - mean**2, 0.0)), np.maximum(improvement, 0.0)

    def _covariance(self, first: Points, second: Points) -> Floats:
        beliefs = self.beliefs
        shared = beliefs.experience * (first.components @ second.components.T)
        return shared + beliefs.matern * matern(first.rows, second.rows, beliefs.length) + LEVEL_VARIANCE

    def _variance(self, points: Points) -> Floats:
        beliefs = self.beliefs
        shared: Floats = beliefs.experience * np.einsum("ij,ij->i", points.components, points.components)
        return shared + beliefs.matern + LEVEL_VARIANCE


def matern(first: Floats, second: Floats, length: float) -> Floats:
    """Return the Matérn-5/2 correlation of rows of the unit cube; an inactive parameter counts as 0.5.

    >>> matern(np.array([[0.0]]), np.array([[0.0], [0.5]]), 0.5).round(3).tolist()
    [[1.0, 0.524]]
    """
    a, b = (np.where(np.isnan(rows), 0.5, rows) for rows in (first, second))
    square = (a**2).sum(axis=1)[:, np.newaxis] + (b**2).sum(axis=1)[np.newaxis] - 2 * a @ b.T
    distance = np.sqrt(5.0 * np.maximum(square, 0.0)) / length
    correlation: Floats = (1 + distance + distance**2 / 3) * np.exp(-distance)
    return correlation
