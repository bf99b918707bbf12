"""A grid: every combination of some values of some hyperparameters; the others have their defaults."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from metaml.errors import BadConfig
from metaml.spaces.config import Config, Value
from metaml.spaces.parameters import Choice, Float, Parameter
from metaml.spaces.space import Space

Grid = Mapping[str, Sequence[Value]]
"""The values of each hyperparameter."""


def grid_configs(space: Space, grid: Grid) -> list[Config]:
    """Return all combinations, each completed by defaults; one that is only reached twice is named once.

    Raises BadConfig for a hyperparameter or a value that the space does not have.

    >>> from metaml.spaces import Integer
    >>> space = Space([Integer("depth", 1, 9, default=5), Integer("trees", 1, 99, default=10)])
    >>> grid_configs(space, {"depth": [1, 2]})
    [{'depth': 1, 'trees': 10}, {'depth': 2, 'trees': 10}]
    """
    found: dict[tuple[tuple[str, Value], ...], Config] = {}
    for values in product(*grid.values()):
        config = space.complete(dict(zip(grid, values, strict=True)))
        space.check(config)
        found.setdefault(tuple(config.items()), config)
    return list(found.values())


def grid_in(texts: Iterable[str], space: Space) -> dict[str, list[Value]]:
    """Return the grid in texts such as "depth=1,2,3": numbers and choices as the space knows them.

    >>> from metaml.spaces import Integer
    >>> grid_in(["depth=1,2"], Space([Integer("depth", 1, 9, default=5)]))
    {'depth': [1, 2]}
    """
    parameters = {parameter.name: parameter for parameter in space.parameters}
    grid: dict[str, list[Value]] = {}
    for text in texts:
        name, mark, words = (part.strip() for part in text.partition("="))
        values = [word.strip() for word in words.split(",") if word.strip()]
        if not mark or not values:
            raise BadConfig(f"A grid is given as NAME=VALUE,VALUE, not as {text!r}.")
        if name not in parameters:
            raise BadConfig(f"There is no hyperparameter {name!r}. Choose among: {', '.join(parameters)}.")
        grid[name] = [value_in(word, parameters[name]) for word in values]
    return grid


def value_in(word: str, parameter: Parameter) -> Value:
    """Return the value of a hyperparameter that a word means; raise BadConfig if it has no such value."""
    value: Value = word
    if isinstance(parameter, Choice):
        value = next((choice for choice in parameter.values if str(choice).lower() == word.lower()), word)
    else:
        try:
            value = float(word) if isinstance(parameter, Float) else int(word)
        except ValueError:
            value = word
    if reason := parameter.invalid_because(value):
        raise BadConfig(f"{parameter.name} {reason}.")
    return value
