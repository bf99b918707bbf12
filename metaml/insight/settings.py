"""The hyperparameters of an algorithm, each with the scale on which its values are compared."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from metaml.arrays import Floats
from metaml.spaces import Choice, Space
from metaml.spaces.config import Config, Value

DECADES_FOR_LOG = 2.0
"""Without a space, positive numbers that span more decades are compared by their logarithms."""
MOST_LEVELS = 12
"""A number with at most so many different values, as in a grid, is shown value by value."""
N_BINS = 4


@dataclass(frozen=True)
class Setting:
    """A hyperparameter: one of some `choices`, or a number from `low` to `high` (then there are no choices).

    >>> rate = Setting("learning_rate", low=0.01, high=1.0, is_log=True)
    >>> rate.units([0.1, None]).tolist()
    [0.5, nan]
    >>> rate.value_at(0.5)
    0.1
    """

    name: str
    choices: tuple[Value, ...] = ()
    low: float = 0.0
    high: float = 1.0
    is_log: bool = False
    is_whole: bool = False

    def units(self, values: Iterable[Value]) -> Floats:
        """Return the place of each value between 0 and 1, a choice as its position; NaN for what is no value of it."""
        if self.choices:
            places = {_key(choice): float(place) for place, choice in enumerate(self.choices)}
            return np.array([places.get(_key(value), math.nan) for value in values])
        numbers = np.array([float(value) if _is_number(value) else math.nan for value in values])  # type: ignore[arg-type]
        low, high = self._edges
        if self.is_log:
            with np.errstate(invalid="ignore", divide="ignore"):
                numbers = np.log(np.where(numbers > 0, numbers, np.nan))
        units = (numbers - low) / (high - low) if high > low else np.where(np.isnan(numbers), np.nan, 0.5)
        return np.asarray(np.clip(units, 0.0, 1.0), dtype=np.float64)

    def value_at(self, unit: float) -> Value:
        """Return the value at a place between 0 and 1, with four significant digits; of choices, that position."""
        if self.choices:
            return self.choices[int(unit)]
        low, high = self._edges
        number = low + unit * (high - low)
        number = float(f"{math.exp(number) if self.is_log else number:.4g}")
        return round(number) if self.is_whole else number

    @property
    def _edges(self) -> tuple[float, float]:
        return (math.log(self.low), math.log(self.high)) if self.is_log else (self.low, self.high)

    def levels(self, values: Sequence[Value]) -> tuple[list[str], Floats]:
        """Return names of levels, and the level of each value: its choice, its value if few differ, else its bin.

        >>> Setting("depth", low=1, high=9, is_whole=True).levels([1, 9, 9])
        (['1', '9'], array([0., 1., 1.]))
        """
        units = self.units(values)
        if self.choices:
            return [value_text(choice) for choice in self.choices], units
        known = sorted({value for value in values if _is_number(value)})  # type: ignore[type-var]
        if len(known) <= MOST_LEVELS:
            places = {value: float(place) for place, value in enumerate(known)}
            return [value_text(value) for value in known], np.array([places.get(value, math.nan) for value in values])
        edges = _short([self.value_at(k / N_BINS) for k in range(N_BINS + 1)])
        names = [f"{low} to {high}" for low, high in pairwise(edges)]
        return names, np.asarray(np.minimum(np.floor(units * N_BINS), N_BINS - 1))


def _short(edges: Sequence[Value]) -> list[str]:
    """Return the edges of bins with two digits, or as they are if these do not distinguish them.

    >>> _short([0.01, 0.02659, 0.07071]), _short([3, 128])
    (['0.01', '0.027', '0.071'], ['3', '128'])
    """
    brief = [f"{float(f'{edge:.2g}'):g}" if isinstance(edge, float) else value_text(edge) for edge in edges]
    return brief if len(set(brief)) == len(brief) else [value_text(edge) for edge in edges]


def varying_settings(configs: Sequence[Config], spaces: Iterable[Space] = ()) -> tuple[Setting, ...]:
    """Return the hyperparameters that vary in these configurations, in the order of the spaces.

    A hyperparameter has the range and the scale of its space; its range is widened to the values that were run. One
    that no space has gets both from its values.

    >>> [setting.name for setting in varying_settings([{"C": 1.0, "kernel": "rbf"}, {"C": 2.0, "kernel": "rbf"}])]
    ['C']
    """
    seen: dict[str, dict[tuple[str, Value], Value]] = {}
    for config in configs:
        for name, value in config.items():
            seen.setdefault(name, {})[_key(value)] = value
    declared: dict[str, Setting] = {}
    for space in spaces:
        for parameter in space.parameters:
            if parameter.name in declared:
                continue
            if isinstance(parameter, Choice):
                declared[parameter.name] = Setting(parameter.name, parameter.choices)
            else:
                whole = not isinstance(parameter.default, float)
                declared[parameter.name] = Setting(
                    parameter.name, (), parameter.low, parameter.high, parameter.log, whole
                )
    order = [*(name for name in declared if name in seen), *sorted(set(seen) - set(declared))]
    return tuple(
        _widened(declared[name], list(seen[name].values()))
        if name in declared
        else _inferred(name, list(seen[name].values()))
        for name in order
        if len(seen[name]) > 1
    )


def columns(configs: Sequence[Mapping[str, Value]], setting: Setting) -> list[Value]:
    """Return the value of a hyperparameter in each configuration; NaN where it is inactive."""
    return [config.get(setting.name, math.nan) for config in configs]


def value_text(value: Value) -> str:
    """Return a value as people read it.

    >>> value_text(None), value_text(0.5), value_text(True), value_text(1e-08)
    ('None', '0.5', 'True', '1e-08')
    """
    return f"{value:g}" if _is_number(value) else str(value)


def _widened(setting: Setting, values: list[Value]) -> Setting:
    if setting.choices:
        known = {_key(choice) for choice in setting.choices}
        more = sorted((value for value in values if _key(value) not in known), key=str)
        return Setting(setting.name, (*setting.choices, *more))
    numbers = [float(value) for value in values if _is_number(value)]  # type: ignore[arg-type]
    if len(numbers) < len(values):
        return _inferred(setting.name, values)
    is_log = setting.is_log and min(numbers) > 0
    low, high = min(setting.low, *numbers), max(setting.high, *numbers)
    return Setting(setting.name, (), low, high, is_log, setting.is_whole)


def _inferred(name: str, values: list[Value]) -> Setting:
    numbers = [float(value) for value in values if _is_number(value)]  # type: ignore[arg-type]
    if len(numbers) < len(values):
        return Setting(name, tuple(sorted(values, key=str)))
    low, high = min(numbers), max(numbers)
    is_log = low > 0 and math.log10(high / low) > DECADES_FOR_LOG
    return Setting(name, (), low, high, is_log, all(isinstance(value, int) for value in values))


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _key(value: Value) -> tuple[str, Value]:
    # True, 1 and 1.0 are equal in Python but different values of a hyperparameter.
    return type(value).__name__, value
