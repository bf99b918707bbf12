"""Data sets weighted by how well they rank what was evaluated here (RGPE; Feurer, Letham and Bakshy 2018).

A baseline for `ExperienceProcess`. Each data set of the knowledge base votes with its own surrogate. A data set whose
surrogate ranks the evaluations on the new data set well gets a larger weight. One more voter is a Gaussian process that
was fitted to these evaluations only.
"""

from typing import Self

import numpy as np

from metaml.arrays import Floats
from metaml.metalearning.scales import standardised
from metaml.metalearning.transfer_gp import matern

N_DRAWS = 200
NOISE = 0.05
LENGTH = 0.5


class RankWeighted:
    """Surrogates of data sets and a Gaussian process of the evaluations here, weighted by the pairs they misrank.

    The evaluations are resampled with replacement many times. The weight of a voter is how often it misranks the fewest
    pairs; ties are shared. The process is tested by leave-one-out predictions.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, levels: Floats, rows: Floats, y: Floats) -> Self:
        """Learn from evaluated rows: their scores, and the level of each data set (first axis) at each of them."""
        self.rows_, self.centre_, self.unit_ = rows, float(y.mean()), max(float(y.std()), 1e-12)
        scores = standardised(y)
        self.inverse_ = np.linalg.inv(matern(rows, rows, LENGTH) + NOISE * np.eye(len(y)))
        self.from_y_ = self.inverse_ @ scores
        # Leave-one-out predictions: Rasmussen and Williams (2006), eq. 5.12.
        left_out = scores - self.from_y_ / np.diag(self.inverse_)
        self.weights_ = rank_weights(np.vstack([levels, left_out]), scores, np.random.default_rng(self.seed))
        self.best_ = float(scores.max())
        return self

    def predict(self, levels: Floats, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the expected score of each row, its standard deviation, and its expected improvement."""
        from scipy.special import ndtr

        k = matern(rows, self.rows_, LENGTH)
        own = 1 - np.einsum("ij,ij->i", k @ self.inverse_, k)
        votes = np.vstack([levels, k @ self.from_y_])
        mean = self.weights_ @ votes
        variance = self.weights_ @ (votes - mean) ** 2 + self.weights_[-1] * np.maximum(own, 0.0)
        std = np.sqrt(np.maximum(variance, 1e-6))
        z = (mean - self.best_) / std
        improvement = std * (z * ndtr(z) + np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))
        return self.centre_ + self.unit_ * mean, self.unit_ * std, self.unit_ * np.maximum(improvement, 0.0)


def rank_weights(votes: Floats, observed: Floats, rng: np.random.Generator, n_draws: int = N_DRAWS) -> Floats:
    """Return the weight of each voter: the share of draws in which it misranks the fewest pairs. They sum to one.

    >>> predicted = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    >>> rank_weights(predicted, np.array([0.1, 0.2, 0.3]), np.random.default_rng(0)).round(1).tolist()
    [0.9, 0.1]
    """
    n = len(observed)
    is_above = observed[:, np.newaxis] > observed[np.newaxis]
    misranked = is_above & (votes[:, :, np.newaxis] <= votes[:, np.newaxis])
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_draws).astype(np.float64)
    losses = np.einsum("di,vij,dj->vd", counts, misranked.astype(np.float64), counts, optimize=True)
    is_best = losses == losses.min(axis=0)
    weights: Floats = (is_best / is_best.sum(axis=0)).mean(axis=1)
    return weights
