"""Spaces: which configurations an algorithm allows, how they are drawn, and how they are checked.

A space is a list of parameters. A parameter may depend on one earlier parameter (`when`), and such
conditions chain. Drawing works on whole columns with numpy, because an optimiser asks for thousands of
candidates at a time; `Space.configspace()` gives the same space to tools that speak ConfigSpace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from metaml.config import Config, Value
from metaml.errors import BadConfig, BadRequest

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

When = tuple[str, tuple[Value, ...]]
"""A condition: the parent's name, and the parent's values for which the parameter is active."""

_STEP = 0.2  # standard deviation of a neighbour's step on the unit interval, as in SMAC


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

    def from_unit(self, unit: npt.NDArray[np.float64]) -> list[Value]:
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

    def trouble(self, value: Value) -> str | None:
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

    def from_unit(self, unit: npt.NDArray[np.float64]) -> list[Value]:
        """Return the whole numbers at these places of the unit interval; each owns the half around it."""
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

    def trouble(self, value: Value) -> str | None:
        """Return what is wrong with `value`, or None."""
        if isinstance(value, bool) or not isinstance(value, int):
            return f"must be a whole number, not {value!r}"
        if not self.low <= value <= self.high:
            return f"must lie between {self.low} and {self.high}, not at {value}"
        return None


@dataclass(frozen=True)
class Choice:
    """One of a few values, all equally likely."""

    name: str
    choices: tuple[Value, ...]
    default: Value = field(kw_only=True)
    when: When | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if len(set(self.choices)) != len(self.choices) or not self.choices:
            raise ValueError(f"{self.name} needs choices that all differ, not {self.choices!r}.")
        if self.trouble(self.default):
            raise ValueError(f"{self.name} has the default {self.default!r}, which is no choice of it.")

    def from_unit(self, unit: npt.NDArray[np.float64]) -> list[Value]:
        """Return the choices at these places of the unit interval, which is cut in equal parts."""
        last = len(self.choices) - 1
        return [self.choices[i] for i in np.minimum((unit * (last + 1)).astype(np.int64), last).tolist()]

    def to_unit(self, value: Value) -> float:
        """Return the middle of the part of the unit interval that belongs to `value`."""
        return (self.choices.index(value) + 0.5) / len(self.choices)

    def density(self, value: Value) -> float:  # noqa: ARG002
        """Return the probability of any one choice."""
        return 1.0 / len(self.choices)

    def trouble(self, value: Value) -> str | None:
        """Return what is wrong with `value`, or None; True is not 1 here, nor is 1 the same as 1.0."""
        if any(type(value) is type(choice) and value == choice for choice in self.choices):
            return None
        return f"must be one of {', '.join(map(repr, self.choices))}, not {value!r}"


Parameter = Float | Integer | Choice


class Space:
    """The configurations of one algorithm; parents stand before the parameters that depend on them.

    >>> kernel = Choice("kernel", ("rbf", "linear"), default="rbf")
    >>> gamma = Float("gamma", 1e-3, 10.0, default=1.0, log=True, when=("kernel", ("rbf",)))
    >>> Space([kernel, gamma]).default()
    {'kernel': 'rbf', 'gamma': 1.0}
    >>> Space([kernel, gamma]).is_valid({"kernel": "linear", "gamma": 1.0})
    False
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self.parameters: tuple[Parameter, ...] = tuple(parameters)
        earlier: dict[str, Parameter] = {}
        for parameter in self.parameters:
            if parameter.name in earlier:
                raise ValueError(f"Two parameters are named {parameter.name!r}.")
            if parameter.when is not None:
                parent, values = parameter.when
                if parent not in earlier:
                    raise ValueError(f"{parameter.name} depends on {parent!r}, which must stand before it.")
                if not values or any(earlier[parent].trouble(value) for value in values):
                    raise ValueError(f"{parameter.name} waits for {parent} in {values!r}, which never comes.")
            earlier[parameter.name] = parameter

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.parameters == other.parameters

    def __hash__(self) -> int:
        return hash(self.parameters)

    def __repr__(self) -> str:
        return f"Space({list(self.parameters)!r})"

    @cached_property
    def _by_name(self) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    def default(self) -> Config:
        """Return the default configuration."""
        return self._complete({}, {parameter.name: parameter.default for parameter in self.parameters})

    def sample(self, n: int, rng: np.random.Generator) -> list[Config]:
        """Return `n` configurations drawn independently and uniformly on the scaled space."""
        configs: list[Config] = [{} for _ in range(n)]
        for parameter in self.parameters:
            # Drawn for every row, active or not: one stream of numbers whatever the conditions say.
            values = parameter.from_unit(rng.random(n))
            name = parameter.name
            if parameter.when is None:
                for config, value in zip(configs, values, strict=True):
                    config[name] = value
            else:
                parent, wanted = parameter.when
                for config, value in zip(configs, values, strict=True):
                    if parent in config and config[parent] in wanted:
                        config[name] = value
        return configs

    def density(self, config: Config) -> float:
        """Return how likely `sample` is to draw `config`: a product over its active parameters.

        A choice counts 1/choices, a whole number its probability, a real number the density 1 of the
        unit interval.
        """
        return math.prod(self._by_name[name].density(value) for name, value in config.items())

    def neighbours(self, config: Config, rng: np.random.Generator, n: int) -> list[Config]:
        """Return up to `n` different configurations that differ from `config` in one parameter.

        Numbers take a normal step on their scale, choices any other value. Where the change wakes
        parameters up, these are drawn at random; where it puts some to sleep, they are left out. Small
        spaces have fewer than `n` neighbours.
        """
        names = [name for name in config if _can_change(self._by_name[name])]
        found: list[Config] = []
        seen: set[tuple[tuple[str, Value], ...]] = set()
        for _ in range(4 * n if names else 0):
            if len(found) == n:
                break
            name = names[int(rng.integers(len(names)))]
            value = _step(self._by_name[name], config[name], rng)
            if value == config[name]:
                continue
            changed = {**config, name: value}
            fresh = {p.name: p.from_unit(rng.random(1))[0] for p in self.parameters if p.name not in changed}
            neighbour = self._complete(changed, fresh)
            key = tuple(neighbour.items())
            if key not in seen:
                seen.add(key)
                found.append(neighbour)
        return found

    def complete(self, config: Config) -> Config:
        """Return `config` with the defaults of active parameters it lacks and without inactive ones.

        Names this space does not know are refused, values are not looked at.
        """
        self._refuse_unknown(config)
        return self._complete(config, {parameter.name: parameter.default for parameter in self.parameters})

    def check(self, config: Config) -> None:
        """Raise BadConfig, in one sentence, unless `config` is a point of this space."""
        self._refuse_unknown(config)
        for parameter in self.parameters:
            name = parameter.name
            if not _is_active(parameter, config):
                if name in config:
                    parent, wanted = parameter.when  # type: ignore[misc]
                    raise BadConfig(
                        f"{name} is only used when {parent} is {' or '.join(map(repr, wanted))}, "
                        f"not {config.get(parent, 'absent')!r}: leave {name} out."
                    )
                continue
            if name not in config:
                raise BadConfig(f"The configuration lacks {name}: give it a value, such as {parameter.default!r}.")
            trouble = parameter.trouble(config[name])
            if trouble:
                raise BadConfig(f"{name} {trouble}.")

    def is_valid(self, config: Config) -> bool:
        """Return whether `config` is a point of this space."""
        try:
            self.check(config)
        except BadConfig:
            return False
        return True

    def configspace(self, seed: int | None = None) -> ConfigurationSpace:
        """Return the same space as a ConfigSpace object, whose draws come from `seed`."""
        import ConfigSpace

        result = ConfigSpace.ConfigurationSpace(seed=seed)
        made: dict[str, Any] = {}
        for p in self.parameters:
            if isinstance(p, Choice):
                made[p.name] = ConfigSpace.CategoricalHyperparameter(p.name, list(p.choices), default_value=p.default)
            else:
                kind = (
                    ConfigSpace.UniformFloatHyperparameter
                    if isinstance(p, Float)
                    else ConfigSpace.UniformIntegerHyperparameter
                )
                made[p.name] = kind(p.name, p.low, p.high, log=p.log, default_value=p.default)
            result.add(made[p.name])
        for p in self.parameters:
            if p.when is not None:
                result.add(ConfigSpace.InCondition(made[p.name], made[p.when[0]], list(p.when[1])))
        return result

    @classmethod
    def from_configspace(cls, space: ConfigurationSpace) -> Space:
        """Return a ConfigSpace object as a Space: uniform numbers, choices, constants, one parent each."""
        import ConfigSpace

        conditions: dict[str, When] = {}
        for condition in space.conditions:
            if (
                not isinstance(condition, ConfigSpace.EqualsCondition | ConfigSpace.InCondition)
                or condition.child.name in conditions
            ):
                raise BadRequest(f"Only one `equals` or `in` condition per parameter can be read, not {condition}.")
            values = [condition.value] if isinstance(condition, ConfigSpace.EqualsCondition) else condition.values
            conditions[condition.child.name] = (condition.parent.name, tuple(map(_plain, values)))
        return cls([_from_hyperparameter(h, conditions.get(h.name)) for h in space.values()])

    def _refuse_unknown(self, config: Config) -> None:
        for name in config:
            if name not in self._by_name:
                raise BadConfig(f"No parameter is named {name!r}: choose from {', '.join(self._by_name)}.")

    def _complete(self, config: Config, fallback: Config) -> Config:
        result: Config = {}
        for parameter in self.parameters:
            if _is_active(parameter, result):
                name = parameter.name
                result[name] = config[name] if name in config else fallback[name]
        return result


def _check_range(parameter: Float | Integer) -> None:
    low, high = parameter.low, parameter.high
    if not low <= high or (parameter.log and low <= 0):
        raise ValueError(f"{parameter.name} cannot range from {low} to {high} (log={parameter.log}).")
    if parameter.trouble(parameter.default):
        raise ValueError(f"{parameter.name} has the default {parameter.default}, outside {low} to {high}.")


def _is_active(parameter: Parameter, config: Config) -> bool:
    if parameter.when is None:
        return True
    parent, wanted = parameter.when
    return parent in config and config[parent] in wanted


def _can_change(parameter: Parameter) -> bool:
    return len(parameter.choices) > 1 if isinstance(parameter, Choice) else parameter.high > parameter.low


def _step(parameter: Parameter, value: Value, rng: np.random.Generator) -> Value:
    if isinstance(parameter, Choice):
        others = [choice for choice in parameter.choices if choice != value]
        return others[int(rng.integers(len(others)))]
    unit = parameter.to_unit(value) + rng.normal(scale=_STEP)
    if not 0 <= unit <= 1:  # a step over the edge is drawn anew inside, so that edges do not attract
        unit = rng.random()
    return parameter.from_unit(np.array([unit]))[0]


def _plain(value: Any) -> Value:
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[no-any-return]


def _from_hyperparameter(hyperparameter: Any, when: When | None) -> Parameter:
    import ConfigSpace

    h = hyperparameter
    if isinstance(h, ConfigSpace.Constant):
        return Choice(h.name, (_plain(h.value),), default=_plain(h.value), when=when)
    if isinstance(h, ConfigSpace.CategoricalHyperparameter):
        return Choice(h.name, tuple(map(_plain, h.choices)), default=_plain(h.default_value), when=when)
    if isinstance(h, ConfigSpace.OrdinalHyperparameter):
        return Choice(h.name, tuple(map(_plain, h.sequence)), default=_plain(h.default_value), when=when)
    if isinstance(h, ConfigSpace.UniformIntegerHyperparameter):
        return Integer(h.name, int(h.lower), int(h.upper), default=int(h.default_value), log=h.log, when=when)
    if isinstance(h, ConfigSpace.UniformFloatHyperparameter):
        return Float(h.name, float(h.lower), float(h.upper), default=float(h.default_value), log=h.log, when=when)
    raise BadRequest(f"{h.name} is a {type(h).__name__}, which a space cannot hold: use a uniform number or a choice.")
