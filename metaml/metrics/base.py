"""What a metric is: a score, higher is better, and everything that other parts of metaml need to know about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from metaml.arrays import Array, Floats

if TYPE_CHECKING:
    from metaml.data import Task

Needs = Literal["labels", "probabilities", "values"]
LEAST_PROBABILITY = 1e-15
FromCounts = Callable[..., Floats]
Batched = Callable[..., Floats]
Weight = Floats | None
"""The weight of each row, None if all count the same."""


@dataclass(frozen=True)
class Metric:
    """A score: `function(truth, prediction, weight)`, where the prediction is what `needs` says.

    `weight` is that of each row, None if all count the same. A row of weight 2 counts as two rows.

    `label` is its name in prose. `is_loss`: people know it as a positive loss. `is_in_target_unit`: it has the unit of
    the target, which differs between data sets, so only ratios can be compared. `is_about_probabilities`: it asks how
    sure a model is, not only which class it prefers. `accuracy_stands_in`: where a data set has no such score, its
    accuracy may rank configurations instead.

    `from_counts(tables)` is the same score for tables of counts, … × true × predicted, many at once; every metric of
    labels has one. `batched(truth, batch, weight)` is the same score for candidates × rows × classes, where rows sum to
    1; it is there for metrics that are slow one by one.

    `has_positive_class`: it looks at one of two classes, and its functions take `positive`. None is the rarer class of
    the rows at hand, whatever their weights.

    `factors` are what probabilities are multiplied with before the largest decides, where a metric of labels knows that
    one class matters more. `unit` is what one error makes of the score, about. `is_bounded`: perfect predictions have
    the highest score; nothing is known of a function of the user's own.

    `openml_name` is OpenML's measure that means the same in the tasks `openml_tasks`; empty if there is none.
    """

    name: str
    label: str
    tasks: tuple[Task, ...]
    needs: Needs
    function: Callable[..., float]
    is_loss: bool = False
    positive: int | None = None
    has_positive_class: bool = False
    is_in_target_unit: bool = False
    is_about_probabilities: bool = False
    accuracy_stands_in: bool = False
    from_counts: FromCounts | None = None
    batched: Batched | None = None
    factors: tuple[float, ...] | None = None
    unit: float = 1.0
    is_bounded: bool = True
    openml_name: str = ""
    openml_tasks: tuple[Task, ...] = ()

    @property
    def highest(self) -> float:
        """Return the score of perfect predictions, which no score exceeds: 0 for a loss, else 1, if it is bounded."""
        return math.inf if not self.is_bounded else 0.0 if self.is_loss else 1.0

    @property
    def sign(self) -> int:
        """Return what turns the score into the value people know: -1 for a loss, else 1."""
        return -1 if self.is_loss else 1

    def leaning(self, probabilities: Array) -> Array:
        """Return probabilities whose largest decides: themselves, unless one class matters more."""
        if self.factors is None:
            return probabilities
        leaning = probabilities * np.array(self.factors)
        return np.asarray(leaning / leaning.sum(axis=-1, keepdims=True))

    def asked(self, prediction: Array) -> Array:
        """Return what the function takes of a prediction, … × rows × classes or values: labels, if it needs them."""
        return self.leaning(prediction).argmax(axis=-1) if self.needs == "labels" else prediction

    def on(self, y: Array) -> Metric:
        """Return the metric for parts of a data set with this target: F1 looks at the same class in all of them."""
        if not self.has_positive_class or self.positive is not None:
            return self
        return self.of_class(rarer_class(y))

    def of_class(self, positive: int | None) -> Metric:
        """Return the metric that looks at this class; itself if it looks at all classes, or if None is given."""
        if not self.has_positive_class or positive is None:
            return self
        return replace(
            self,
            function=partial(self.function, positive=positive),
            from_counts=None if self.from_counts is None else partial(self.from_counts, positive=positive),
            positive=positive,
        )


def mean_over_rows(values: Array, weight: Weight) -> float:
    """Return the mean of a value per row.

    >>> mean_over_rows(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    2.0
    """
    return float(np.mean(values) if weight is None else np.average(values, weights=weight))


def error_of_mean(values: Array, weight: Weight) -> float:
    """Return the standard error of the mean of a value per row.

    A row of weight 2 is one row that counts twice, not two: it makes the mean less sure, not surer.

    >>> error_of_mean(np.array([1.0, 3.0]), None), error_of_mean(np.array([1.0, 3.0]), np.ones(2))
    (1.0, 1.0)
    """
    if weight is None:
        return float(values.std(ddof=1) / np.sqrt(len(values)))
    apart = weight * (values - np.average(values, weights=weight)) / weight.sum()
    return float(np.sqrt(np.square(apart).sum() * len(values) / (len(values) - 1)))


def some(weight: Weight, rows: Array | np.bool_ | slice) -> Weight:
    """Return the weights of some of the rows; None if all rows count the same."""
    return None if weight is None else weight[rows]


def rarer_class(y: Array) -> int:
    """Return the rarer of two classes; of equals, the second.

    >>> rarer_class(np.array([0, 1, 1])), rarer_class(np.array([0, 1]))
    (0, 1)
    """
    counts = np.bincount(y, minlength=2)
    return 0 if counts[0] < counts[1] else 1
