"""The first configurations of each algorithm, by the rule of a strategy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from metaml.acquisition.candidates import SpaceCandidates
from metaml.acquisition.designs import initial_design
from metaml.acquisition.starts import DESIGN, with_default
from metaml.algorithms import ALGORITHMS
from metaml.data import Task
from metaml.encoding import Facts
from metaml.search.strategy import Strategy
from metaml.spaces import Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from metaml.search.plan import SearchExperience

PORTFOLIO_RULES = ("", "portfolio")
"""Rules for starts that choose for all algorithms together; with any other, each algorithm has starts of its own."""


class Starts(Protocol):
    """Configurations to try first on a data set; `metaml.metalearning.initial_design` implements it."""

    is_usable: bool

    def order(self) -> list[str]:
        """Return the algorithms, the most promising first."""
        ...

    def improvement_curves(self) -> dict[str, list[list[float]]]:
        """Return, for each algorithm and similar data set, the best level after each evaluation."""
        ...

    def first_configs(
        self, n: int, *, given: Sequence[tuple[str, Config]], budget_seconds: float | None
    ) -> list[tuple[str, Config]]:
        """Return up to `n` pairs of algorithm and configuration, those `given` first."""
        ...


def starts_of(
    strategy: Strategy,
    task: Task,
    facts: Facts,
    algorithms: Sequence[str],
    experience: "SearchExperience | None",
) -> dict[str, tuple[Config, ...]]:
    """Return the first configurations of each algorithm by the rule of a strategy; none if it has no such rule."""
    rule, n = strategy.start_rule
    if rule in PORTFOLIO_RULES:
        return {}
    spaces = {name: ALGORITHMS[name].space(task) for name in algorithms}
    if rule == DESIGN:
        return {name: design_starts(space, facts, n) for name, space in spaces.items()}
    if experience is None:
        return {}
    return {
        name: tuple(with_default(experience.starts(name, space, rule=rule, n=n), space.default()))
        for name, space in spaces.items()
        if experience.knows(name)
    }


def design_starts(space: Space, facts: Facts | None, n: int, *, has_default: bool = True) -> tuple[Config, ...]:
    """Return `n` configurations that fill a space evenly, and its default; the same each time."""
    cube = SpaceCandidates(space, facts=facts).cube
    even = initial_design(cube, n, np.random.default_rng(n))
    return tuple(with_default([cube.config(place) for place in even], space.default() if has_default else None))
