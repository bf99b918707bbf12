"""What every surrogate answers: a mean, a standard deviation and an upper bound for each row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

from metaml.arrays import Floats

NORMAL_QUANTILE_90 = 1.2815515655446004
"""How many standard deviations above its mean a normal variable has its 90 % quantile."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a surrogate believes about some rows, in its own scale; higher is better."""

    mean: Floats
    std: Floats
    upper: Floats


class Surrogate(Protocol):
    """A model of the scores of one data set. Missing values (NaN) in `X` are inactive parameters."""

    def fit(self, X: Floats, y: Floats) -> Self:
        """Learn from at least one row."""
        ...

    def predict(self, X: Floats) -> Prediction:
        """Return what is believed about new rows."""
        ...

    def scaled(self, y: Floats) -> Floats:
        """Return scores in the scale this surrogate predicts in: `y` itself for most."""
        ...


@dataclass(frozen=True)
class Maker:
    """Makes a surrogate from a seed, and says how its predictions are read when it judges candidates alone.

    `acquisition` names the rule. Empty: it is only a part of other strategies, and a user cannot choose it. With
    `is_noisy`, the incumbent is the best mean that it predicts, not the best score.
    """

    make: Callable[[int], Surrogate]
    acquisition: str = ""
    is_noisy: bool = False

    def __call__(self, seed: int) -> Surrogate:
        """Return a surrogate that has learnt nothing yet."""
        return self.make(seed)


def normal_prediction(mean: Floats, std: Floats) -> Prediction:
    """Return a prediction whose upper bound is the 90 % quantile of a normal distribution."""
    return Prediction(mean=mean, std=std, upper=mean + NORMAL_QUANTILE_90 * std)
