"""The parameters of a space: real and whole numbers and choices, each drawn on the unit interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from metaml.arrays import Floats
from metaml.spaces.config import Config, Value

When = tuple[str, tuple[Value, ...]]
"""A condition: the parent's name, and the parent's values for which the parameter is active."""

STEP = 0.2
"""Standard deviation of a neighbour's step on the unit interval, as in SMAC."""


@dataclass(frozen=True)
class Float:
    """A real number between `low` and `high`, drawn on a logarithmic scale if `log`."""

    name: str
    low: float
    high: float
    default: float = field(kw_only=True)
    log: bool = field(default=False, kw_only=True)
    when: When | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_range(self)

    def from_unit(self, unit: Floats) -> list[Value]:
        """Return the values at these places of the unit interval, with 6 significant digits."""
        if self.log:
            values = np.exp(math.log(self.low) + unit * (math.log(self.high) - math.log(self.low)))
        else:
            values = self.low + unit * (self.high - self.low)
        low, high = float(self.low), float(self.high)
        return [min(max(float(f"{value:.6g}"), low), high) for value in values]

    def to_unit(self, value: Value) -> float:
        """Return the place of `value` on the unit interval, the inverse of `from_unit`."""
        number = float(value)  # type: ignore[arg-type]
        if self.high == self.low:
            return 0.5
        if self.log:
            return math.log(number / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)

    def density(self, value: Value) -> float:  # noqa: ARG002
        """Return 1: drawing is uniform on the unit interval."""
        return 1.0

    def invalid_because(self, value: Value) -> str | None:
        """Return what is wrong with `value`, or None."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return f"must be a number, not {value!r}"
        if not self.low <= value <= self.high:
            return f"must lie between {self.low:g} and {self.high:g}, not at {value!r}"
        return None


@dataclass(frozen=True)
class Integer:
    """A whole number from `low` to `high`, both included, drawn on a logarithmic scale if `log`."""

    name: str
    low: int
    high: int
    default: int = field(kw_only=True)
    log: bool = field(default=False, kw_only=True)
    when: When | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_range(self)

    def _edges(self) -> tuple[float, float]:
        low, high = self.low - 0.5, self.high + 0.5
        return (math.log(low), math.log(high)) if self.log else (low, high)

    def from_unit(self, unit: Floats) -> list[Value]:
        """Return the whole numbers at these places of the unit interval; each covers ±0.5."""
        low, high = self._edges()
        places = low + unit * (high - low)
        values = np.rint(np.exp(places) if self.log else places).astype(np.int64)
        result: list[Value] = np.clip(values, self.low, self.high).tolist()
        return result

    def to_unit(self, value: Value) -> float:
        """Return the place of `value` on the unit interval, the inverse of `from_unit`."""
        low, high = self._edges()
        number = float(value)  # type: ignore[arg-type]
        return ((math.log(number) if self.log else number) - low) / (high - low)

    def density(self, value: Value) -> float:
        """Return the probability that a draw gives `value`: its share of the scale."""
        if not self.log:
            return 1.0 / (self.high - self.low + 1)
        low, high = self._edges()
        number = float(value)  # type: ignore[arg-type]
        return (math.log(number + 0.5) - math.log(number - 0.5)) / (high - low)

    def invalid_because(self, value: Value) -> str | None:
        """Return what is wrong with `value`, or None."""
        if isinstance(value, bool) or not isinstance(value, int):
            return f"must be a whole number, not {value!r}"
        if not self.low <= value <= self.high:
            return f"must lie between {self.low} and {self.high}, not at {value}"
        return None


@dataclass(frozen=True)
class Choice:
    """One of a few values, all equally likely.

    `unasked` values are allowed in a configuration that somebody names, but none is ever drawn: a search, and what it
    learnt, stays the same when one is added.
    """

    name: str
    choices: tuple[Value, ...]
    default: Value = field(kw_only=True)
    when: When | None = field(default=None, kw_only=True)
    unasked: tuple[Value, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if len(set(self.values)) != len(self.values) or not self.choices:
            raise ValueError(f"{self.name} needs choices that all differ, not {self.values!r}.")
        if self.default not in self.choices or self.invalid_because(self.default):
            raise ValueError(f"{self.name} has the default {self.default!r}, which is no choice of it.")

    @property
    def values(self) -> tuple[Value, ...]:
        """Return every value that a configuration may have."""
        return (*self.choices, *self.unasked)

    def from_unit(self, unit: Floats) -> list[Value]:
        """Return the choices at these places of the unit interval, which is divided into equal parts."""
        last = len(self.choices) - 1
        return [self.choices[i] for i in np.minimum((unit * (last + 1)).astype(np.int64), last).tolist()]

    def to_unit(self, value: Value) -> float:
        """Return the middle of the part of the unit interval that belongs to `value`, or else to the default."""
        known = self.default if value in self.unasked else value
        return (self.choices.index(known) + 0.5) / len(self.choices)

    def density(self, value: Value) -> float:
        """Return the probability that a draw gives `value`."""
        return 0.0 if value in self.unasked else 1.0 / len(self.choices)

    def invalid_because(self, value: Value) -> str | None:
        """Return what is wrong with `value`, or None; True, 1 and 1.0 are different values."""
        if any(type(value) is type(choice) and value == choice for choice in self.values):
            return None
        return f"must be one of {', '.join(map(repr, self.values))}, not {value!r}"


Parameter = Float | Integer | Choice


def _check_range(parameter: Float | Integer) -> None:
    low, high = parameter.low, parameter.high
    if not low <= high or (parameter.log and low <= 0):
        raise ValueError(f"{parameter.name} cannot range from {low} to {high} (log={parameter.log}).")
    if parameter.invalid_because(parameter.default):
        raise ValueError(f"{parameter.name} has the default {parameter.default}, outside {low} to {high}.")


def is_active(parameter: Parameter, config: Config) -> bool:
    """Return whether the parameter's condition holds in a configuration."""
    if parameter.when is None:
        return True
    parent, wanted = parameter.when
    return parent in config and config[parent] in wanted


def can_change(parameter: Parameter) -> bool:
    """Return whether a parameter has more than one value."""
    return len(parameter.choices) > 1 if isinstance(parameter, Choice) else parameter.high > parameter.low


def step(parameter: Parameter, value: Value, rng: np.random.Generator) -> Value:
    """Return a value near the given one: another choice, or a normal step on the unit interval."""
    if isinstance(parameter, Choice):
        others = [choice for choice in parameter.choices if choice != value]
        return others[int(rng.integers(len(others)))]
    unit = parameter.to_unit(value) + rng.normal(scale=STEP)
    if not 0 <= unit <= 1:  # redraw a step beyond the edge inside, so that values do not pile up at the edges
        unit = rng.random()
    return parameter.from_unit(np.array([unit]))[0]
