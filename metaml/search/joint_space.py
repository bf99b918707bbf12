"""One space of all algorithms: which one is a choice, and the parameters of each depend on it (Horn & Bischl 2016)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from metaml.spaces import Choice, Parameter, Space
from metaml.spaces.config import Config

ALGORITHM = "algorithm"
SEPARATOR = "__"
"""Stands between an algorithm and its parameter: the encoder knows a parameter by what follows it."""


class JointSpace:
    """The spaces of several algorithms as one, and the way between its configurations and those of each.

    All algorithms have the `shared` parameters, too; a configuration of one algorithm names those that differ from
    their default.

    >>> from metaml.spaces import Float
    >>> joint = JointSpace({"svm": Space([Float("C", 0.1, 10.0, default=1.0)]), "tree": Space([])})
    >>> joint.joined("svm", {"C": 2.0}), joint.parted({"algorithm": "svm", "svm__C": 2.0})
    ({'algorithm': 'svm', 'svm__C': 2.0}, ('svm', {'C': 2.0}))
    """

    def __init__(self, spaces: Mapping[str, Space], shared: Sequence[Parameter] = ()) -> None:
        self.names = tuple(spaces)
        self._shared = {parameter.name: parameter.default for parameter in shared}
        which = Choice(ALGORITHM, self.names, default=self.names[0])
        own = [_of_algorithm(name, parameter) for name, space in spaces.items() for parameter in space.parameters]
        self.space = Space([which, *shared, *own])

    def joined(self, algorithm: str, config: Config) -> Config:
        """Return a configuration of the joint space."""
        own = {f"{algorithm}{SEPARATOR}{name}": value for name, value in config.items() if name not in self._shared}
        return {ALGORITHM: algorithm, **{name: config.get(name, usual) for name, usual in self._shared.items()}, **own}

    def parted(self, config: Config) -> tuple[str, Config]:
        """Return the algorithm of a configuration, and its own configuration."""
        algorithm = str(config[ALGORITHM])
        start = f"{algorithm}{SEPARATOR}"
        own = {name.removeprefix(start): value for name, value in config.items() if name.startswith(start)}
        return algorithm, own | {name: config[name] for name, usual in self._shared.items() if config[name] != usual}

    def inert(self, parameters: Sequence[str]) -> list[str]:
        """Return what parameters of the algorithms are called in the joint space."""
        return [f"{name}{SEPARATOR}{parameter}" for name in self.names for parameter in parameters]


def _of_algorithm(name: str, parameter: Parameter) -> Parameter:
    when = (
        (ALGORITHM, (name,)) if parameter.when is None else (f"{name}{SEPARATOR}{parameter.when[0]}", parameter.when[1])
    )
    return replace(parameter, name=f"{name}{SEPARATOR}{parameter.name}", when=when)
