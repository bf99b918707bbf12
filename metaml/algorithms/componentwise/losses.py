"""What boosting makes small: the squared error, and the log loss of two or more classes."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from metaml.algorithms.base import Vector
from metaml.arrays import Floats

LEAST_CURVATURE = 0.02
"""Where nearly all rows are certain, steps would become too long without a least curvature."""


class Loss(Protocol):
    """A loss of a target, given one or more scores per row.

    `moves_together` says whether a round moves all scores of a row, or one of them.
    """

    moves_together: bool

    def target(self, y: Vector) -> Floats:
        """Return what is compared with scores (rows × any number of columns)."""

    def start(self, target: Floats, weight: Floats) -> Floats:
        """Return the scores of a model that knows no column, one per output."""

    def gradient(self, target: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return the negative gradient (rows × outputs), and the mean curvature of each output."""

    def of_rows(self, target: Floats, scores: Floats) -> Floats:
        """Return the loss of each row."""


class SquaredError:
    """Half the squared error of a number."""

    moves_together = True

    def target(self, y: Vector) -> Floats:
        """Return the numbers as one column."""
        return np.asarray(y, dtype=np.float64)[:, None]

    def start(self, target: Floats, weight: Floats) -> Floats:
        """Return the mean."""
        return np.asarray(np.average(target, axis=0, weights=weight))

    def gradient(self, target: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return the residuals."""
        return target - scores, np.ones(1)

    def of_rows(self, target: Floats, scores: Floats) -> Floats:
        """Return the loss of each row."""
        return np.asarray(np.square(target - scores)[:, 0] / 2)


class LogLoss:
    """The log loss: one score for two classes, one per class for more."""

    moves_together = True

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def target(self, y: Vector) -> Floats:
        """Return whether a row is of the second of two classes, or a column for each of more."""
        first = 1 if self.n_classes == 2 else 0
        return np.asarray(y[:, None] == np.arange(self.n_classes)[first:], dtype=np.float64)

    def start(self, target: Floats, weight: Floats) -> Floats:
        """Return the log odds, or the logarithm of the shares of more than two classes."""
        shares = np.clip(np.average(target, axis=0, weights=weight), 1e-6, 1 - 1e-6)
        return np.asarray(np.log(shares / (1 - shares)) if len(shares) == 1 else np.log(shares))

    def gradient(self, target: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return by how much the probabilities are too low."""
        found = chances(scores)
        curvature = max(float((found * (1 - found)).mean()), LEAST_CURVATURE)
        return target - found, np.full(scores.shape[1], curvature)

    def of_rows(self, target: Floats, scores: Floats) -> Floats:
        """Return the loss of each row."""
        if scores.shape[1] == 1:
            return np.asarray(np.logaddexp(0.0, np.where(target > 0, -scores, scores))[:, 0])
        top = scores.max(axis=1, keepdims=True)
        total = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
        return np.asarray(total - (target * scores).sum(axis=1))


def loss_of(n_classes: int | None) -> Loss:
    """Return the loss of so many classes, or of a number if there are none."""
    return SquaredError() if n_classes is None else LogLoss(n_classes)


def chances(scores: Floats) -> Floats:
    """Return the probability of the second class, or of each of more than two.

    >>> chances(np.array([[0.0], [800.0]])).round(2).tolist()
    [[0.5], [1.0]]
    """
    if scores.shape[1] == 1:
        return np.asarray(1 / (1 + np.exp(-np.clip(scores, -500, 500))))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
