"""A surrogate that learns only what the meta-learner did not explain."""

from collections.abc import Callable
from typing import Self

from metaml.metalearning.scales import Array
from metaml.surrogates import Prediction, Surrogate
from metaml.surrogates.quantile_boosting import QuantileBoosting

LEAST_FOR_SLOPE = 3


class Residual:
    """A surrogate of y - m, where m is what the meta-learner said in the unit of the scores here.

    The meta-learner's unit is that of an average data set; a least-squares line (never falling, and shrunk towards
    `unit` while there are few runs) brings it to the scores of this one.
    """

    def __init__(self, said: Callable[[Array], Array], *, unit: float, surrogate: Surrogate | None = None) -> None:
        self.said = said
        self.unit = unit
        self.surrogate: Surrogate = surrogate or QuantileBoosting()

    def scaled(self, y: Array) -> Array:
        """Return the scores as they are."""
        return y

    def fit(self, X: Array, y: Array) -> Self:
        """Learn from rows and scores."""
        said = self.said(X)
        self.slope_ = slope(said, y, self.unit)
        self.level_ = float(y.mean() - self.slope_ * said.mean())
        self.surrogate.fit(X, y - self.level_ - self.slope_ * said)
        return self

    def predict(self, X: Array) -> Prediction:
        """Return what the meta-learner says plus what the surrogate learnt."""
        base = self.level_ + self.slope_ * self.said(X)
        rest = self.surrogate.predict(X)
        return Prediction(mean=base + rest.mean, std=rest.std, upper=base + rest.upper)


def slope(said: Array, y: Array, unit: float, strength: float = LEAST_FOR_SLOPE) -> float:
    """Return by how much a score rises when what was said rises by one: at least 0, and `unit` without evidence.

    >>> import numpy as np
    >>> slope(np.array([0.0, 1.0]), np.array([0.5, 0.5]), unit=0.02, strength=0.0)
    0.0
    """
    x = said - said.mean()
    square = float(x @ x) + strength
    if square <= 0:
        return unit
    return max((float(x @ (y - y.mean())) + strength * unit) / square, 0.0)
