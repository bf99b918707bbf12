"""The grid study of a bot: all combinations of some values of one algorithm, on many data sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from metaml.algorithms import ALGORITHMS, check_known
from metaml.data import Task
from metaml.errors import BadConfig, BadRequest
from metaml.spaces import Space
from metaml.spaces.config import Config
from metaml.spaces.grid import Grid, grid_configs, grid_in

TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression")


def grid_of(texts: Sequence[str], algorithms: Sequence[str]) -> Grid:
    """Return the grid in texts such as "max_depth=1,2,3" of the one algorithm that is named.

    A value is checked against the space of the first task that has the hyperparameter.
    """
    check_known(algorithms)
    if len(algorithms) != 1:
        raise BadRequest("A grid is of one algorithm. Name it with --algorithm.")
    spaces = [ALGORITHMS[algorithms[0]].space(task) for task in TASKS]
    own = {parameter.name: parameter for space in reversed(spaces) for parameter in space.parameters}
    return grid_in(texts, Space([replace(parameter, when=None) for parameter in own.values()]))


def fitting_configs(space: Space, grid: Grid) -> list[Config]:
    """Return the configurations of a grid; none if it does not fit this space."""
    try:
        return grid_configs(space, grid)
    except BadConfig:
        return []


def check_grid(
    grid: Grid, algorithms: Sequence[str], tasks: Mapping[str, Task], on_note: Callable[[str], None]
) -> None:
    """Note the data sets (by name, with their task) that a grid does not fit; raise BadConfig if it fits none."""
    if not grid:
        return
    spaces = {name: ALGORITHMS[algorithms[0]].space(task) for name, task in tasks.items()}
    fitting = [name for name, space in spaces.items() if fitting_configs(space, grid)]
    if not fitting:
        grid_configs(next(iter(spaces.values())), grid)
    for name in sorted(set(spaces) - set(fitting)):
        on_note(f"{name}: the grid does not fit a {tasks[name]} target, so only the default is run.")
