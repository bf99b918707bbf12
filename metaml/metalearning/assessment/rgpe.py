"""Data sets weighted by how well they rank what was evaluated here (RGPE; Feurer, Letham and Bakshy 2018).

A yardstick for the process with experience: each data set of the knowledge base votes with its own surrogate, and a
data set that orders the evaluations here correctly has a larger vote. One more voter knows these evaluations only.
"""

from typing import Self

import numpy as np

from metaml.metalearning.scales import Array, standardised
from metaml.metalearning.transfer_gp import matern

N_DRAWS = 200
NOISE = 0.05
LENGTH = 0.5


class RankWeighted:
    """Surrogates of data sets and a Gaussian process of the evaluations here, weighted by the pairs they misrank.

    The evaluations are drawn anew with replacement many times; a voter's weight is how often it misranks the fewest
    pairs, ties shared. The process is judged on points it has not seen: each left out in turn.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, levels: Array, rows: Array, y: Array) -> Self:
        """Learn from evaluated rows: their scores, and the level of each data set (first axis) at each of them."""
        self.rows_, self.centre_, self.unit_ = rows, float(y.mean()), max(float(y.std()), 1e-12)
        scores = standardised(y)
        self.inverse_ = np.linalg.inv(matern(rows, rows, LENGTH) + NOISE * np.eye(len(y)))
        self.from_y_ = self.inverse_ @ scores
        # Rasmussen and Williams (2006), eq. 5.12: what the others say of each point.
        left_out = scores - self.from_y_ / np.diag(self.inverse_)
        self.weights_ = rank_weights(np.vstack([levels, left_out]), scores, np.random.default_rng(self.seed))
        self.best_ = float(scores.max())
        return self

    def predict(self, levels: Array, rows: Array) -> tuple[Array, Array, Array]:
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


def rank_weights(votes: Array, observed: Array, rng: np.random.Generator, n_draws: int = N_DRAWS) -> Array:
    """Return the weight of each voter: in which share of draws it misranks the fewest pairs; the weights sum to one.

    >>> said = np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    >>> rank_weights(said, np.array([0.1, 0.2, 0.3]), np.random.default_rng(0)).round(1).tolist()
    [0.9, 0.1]
    """
    n = len(observed)
    is_above = observed[:, np.newaxis] > observed[np.newaxis]
    misranked = is_above & (votes[:, :, np.newaxis] <= votes[:, np.newaxis])
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_draws).astype(np.float64)
    losses = np.einsum("di,vij,dj->vd", counts, misranked.astype(np.float64), counts, optimize=True)
    is_best = losses == losses.min(axis=0)
    weights: Array = (is_best / is_best.sum(axis=0)).mean(axis=1)
    return weights
