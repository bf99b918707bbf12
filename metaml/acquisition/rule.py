"""An acquisition function as a registered choice: what it computes, and the number that a user may set of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.surrogates.base import Prediction

Value = Callable[..., Floats]
Incumbent = Callable[..., float]


@dataclass(frozen=True)
class Rule:
    """A function of a prediction and the incumbent; higher values are better.

    `parameter` is its argument that may be set, from `low` up to (not including) `high`; empty: nothing can be set.
    Without `incumbent`, the incumbent is the best score or the best predicted mean. Else that function finds it in what
    is believed of the evaluated rows. With `knows_noise`, the value is also told the noise of the scores.
    """

    value: Value
    parameter: str = ""
    low: float = 0.0
    high: float = float("inf")
    incumbent: Incumbent | None = None
    knows_noise: bool = False

    def __call__(self, prediction: Prediction, incumbent: float, *, noise: float = 0.0) -> Floats:
        """Return one value for each row of a prediction."""
        if self.knows_noise:
            return self.value(prediction, incumbent, noise=noise)
        return self.value(prediction, incumbent)

    def with_parameter(self, text: str, name: str) -> Self:
        """Return this rule, called `name`, with its parameter set; BadRequest if it has none or does not take that."""
        if not self.parameter:
            raise BadRequest(f"{name} takes no number, but was given {text!r}. Leave out ':{text}'.")
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not self.low <= number < self.high:
            most = "" if self.high == float("inf") else f" and below {self.high:g}"
            raise BadRequest(
                f"{name} was given {text!r}. Give a number of at least {self.low:g}{most}, such as {name}:{self.low:g}."
            )
        argument = {self.parameter: number}
        return replace(
            self,
            value=partial(self.value, **argument),
            incumbent=None if self.incumbent is None else partial(self.incumbent, **argument),
        )
