"""Spaces: which configurations an algorithm allows, how they are drawn, and how they are checked.

A space is a list of parameters. A parameter may depend on one earlier parameter (`when`), and such
conditions chain. Drawing works on whole columns with numpy, because an optimizer asks for thousands of
candidates at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from metaml.errors import BadConfig
from metaml.spaces.config import Config, Value
from metaml.spaces.parameters import Parameter, can_change, is_active, step


class Space:
    """The configurations of one algorithm; parents come before the parameters that depend on them.

    >>> from metaml.spaces import Choice, Float
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
                    raise ValueError(f"{parameter.name} depends on {parent!r}, which must come before it.")
                if not values or any(earlier[parent].invalid_because(value) for value in values):
                    raise ValueError(
                        f"{parameter.name} depends on {parent} in {values!r}, which are not all values of {parent}."
                    )
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
            # Draw for every row, active or not: the random stream then does not depend on the conditions.
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

        Numbers take a normal step on their scale, choices any other value. Parameters that become
        active by the change are drawn at random, those that become inactive are left out. Small spaces have
        fewer than `n` neighbours.
        """
        names = [name for name in config if can_change(self._by_name[name])]
        found: list[Config] = []
        seen: set[tuple[tuple[str, Value], ...]] = set()
        for _ in range(4 * n if names else 0):
            if len(found) == n:
                break
            name = names[int(rng.integers(len(names)))]
            value = step(self._by_name[name], config[name], rng)
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

        Unknown names raise BadConfig; values are not checked.
        """
        self._refuse_unknown(config)
        return self._complete(config, {parameter.name: parameter.default for parameter in self.parameters})

    def check(self, config: Config) -> None:
        """Raise BadConfig, in one sentence, unless `config` is a point of this space."""
        self._refuse_unknown(config)
        for parameter in self.parameters:
            name = parameter.name
            if not is_active(parameter, config):
                if name in config:
                    parent, wanted = parameter.when  # type: ignore[misc]
                    raise BadConfig(
                        f"{name} is only used when {parent} is {' or '.join(map(repr, wanted))}, "
                        f"not {config.get(parent, 'absent')!r}: leave {name} out."
                    )
                continue
            if name not in config:
                raise BadConfig(f"The configuration lacks {name}: give it a value, such as {parameter.default!r}.")
            reason = parameter.invalid_because(config[name])
            if reason:
                raise BadConfig(f"{name} {reason}.")

    def is_valid(self, config: Config) -> bool:
        """Return whether `config` is a point of this space."""
        try:
            self.check(config)
        except BadConfig:
            return False
        return True

    def _refuse_unknown(self, config: Config) -> None:
        for name in config:
            if name not in self._by_name:
                raise BadConfig(f"No parameter is named {name!r}: choose from {', '.join(self._by_name)}.")

    def _complete(self, config: Config, fallback: Config) -> Config:
        result: Config = {}
        for parameter in self.parameters:
            if is_active(parameter, result):
                name = parameter.name
                result[name] = config[name] if name in config else fallback[name]
        return result
