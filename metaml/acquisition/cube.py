"""A space as a unit cube: candidates by the thousand without building a configuration for each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from metaml.arrays import Flags, Floats
from metaml.encoding import MISSING, Encoder, Facts
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config, Value


class Cube:
    """Places in the unit cube, one coordinate for each parameter, read as configurations and as encoded rows."""

    def __init__(self, space: Space, encoder: Encoder, facts: Facts | None = None) -> None:
        self.space = space
        self.encoder = encoder
        self.facts = facts
        self.parameters = space.parameters
        self._position = {parameter.name: k for k, parameter in enumerate(self.parameters)}
        self._tables = {
            coding.name: encoder.block(coding, [*parameter.choices, MISSING], facts)
            for coding in encoder.codings_
            if isinstance(parameter := self.parameters[self._position[coding.name]], Choice)
        }

    @property
    def n_parameters(self) -> int:
        """Return the number of coordinates."""
        return len(self.parameters)

    def sample(self, n: int, rng: np.random.Generator) -> Floats:
        """Return `n` places drawn uniformly."""
        return rng.random((n, self.n_parameters))

    def active(self, places: Floats) -> Flags:
        """Return which parameters are active at each place."""
        flags = np.ones(places.shape, dtype=np.bool_)
        for k, parameter in enumerate(self.parameters):
            if parameter.when is not None:
                parent, wanted = parameter.when
                p = self._position[parent]
                flags[:, k] = flags[:, p] & _holds(self.parameters[p], places[:, p], wanted)
        return flags

    def encode(self, places: Floats) -> Floats:
        """Return the encoded rows, as the encoder gives them for the configurations at these places."""
        flags = self.active(places)
        blocks = []
        for coding in self.encoder.codings_:
            k = self._position[coding.name]
            parameter = self.parameters[k]
            if isinstance(parameter, Choice):
                codes = np.where(flags[:, k], _choice(parameter, places[:, k]), len(parameter.choices))
                blocks.append(self._tables[coding.name][codes])
            elif coding.is_share:
                values: list[Value] = parameter.from_unit(places[:, k])
                shown = [value if on else MISSING for value, on in zip(values, flags[:, k], strict=True)]
                blocks.append(self.encoder.block(coding, shown, self.facts))
            else:
                numbers = np.where(flags[:, k], _numbers(parameter, places[:, k]), np.nan)
                blocks.append(self.encoder.block(coding, numbers, self.facts))
        return np.hstack(blocks) if blocks else np.zeros((len(places), 0))

    def config(self, place: Floats) -> Config:
        """Return the configuration at one place."""
        flags = self.active(place[np.newaxis])[0]
        return {
            parameter.name: parameter.from_unit(place[k : k + 1])[0]
            for k, parameter in enumerate(self.parameters)
            if flags[k]
        }

    def places(self, configs: Sequence[Config]) -> Floats:
        """Return the places of configurations; inactive parameters are in the middle."""
        rows = [[p.to_unit(c[p.name]) if p.name in c else 0.5 for p in self.parameters] for c in configs]
        return np.array(rows, dtype=np.float64).reshape(len(configs), self.n_parameters)

    def n_choices(self) -> NDArray[np.int64]:
        """Return the number of choices of each parameter, 0 for numbers."""
        return np.array([len(p.choices) if isinstance(p, Choice) else 0 for p in self.parameters])


def _choice(parameter: Choice, unit: Floats) -> NDArray[np.int64]:
    n = len(parameter.choices)
    return np.minimum((unit * n).astype(np.int64), n - 1)


def _numbers(parameter: Float | Integer, unit: Floats) -> Floats:
    low, high = float(parameter.low), float(parameter.high)
    if isinstance(parameter, Integer):
        low, high = low - 0.5, high + 0.5
    values = np.exp(np.log(low) + unit * np.log(high / low)) if parameter.log else low + unit * (high - low)
    if isinstance(parameter, Integer):
        values = np.clip(np.rint(values), parameter.low, parameter.high)
    return values


def _holds(parameter: Parameter, unit: Floats, wanted: tuple[Value, ...]) -> Flags:
    if isinstance(parameter, Choice):
        is_wanted = np.array([choice in wanted for choice in parameter.choices])
        holds: Flags = is_wanted[_choice(parameter, unit)]
        return holds
    return np.isin(_numbers(parameter, unit), np.array(wanted, dtype=np.float64))
