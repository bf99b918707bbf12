"""Spaces from what people have: plain Python, ConfigSpace, the trials of an Optuna study."""

from collections.abc import Mapping, Sequence
from typing import Any

from metaml.errors import BadRequest
from metaml.spaces import Choice, Float, Integer, Parameter, Space, Value, When
from metaml.spaces.configspace import from_configspace


def as_space(given: Any) -> Space:
    """Return a space: from a mapping, a list of parameters, a ConfigSpace object, or an Optuna study.

    In a mapping, a pair of numbers is a range (whole numbers make whole numbers), a third item "log" draws on a
    logarithmic scale, and a list is a choice. The default is the middle of a range, or the first choice.

    >>> space = as_space({"cost": (0.001, 1000.0, "log"), "degree": (1, 5), "kernel": ["rbf", "linear"]})
    >>> space.default()
    {'cost': 1.0, 'degree': 3, 'kernel': 'rbf'}
    """
    if isinstance(given, Space):
        return given
    if isinstance(given, Mapping) and not given:
        raise BadRequest("The space has no parameter. Give at least one, such as {'x': (0.0, 1.0)}.")
    kinds = {f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in type(given).__mro__}
    if "ConfigSpace.ConfigurationSpace" in kinds:
        return from_configspace(given)
    if "optuna.Study" in kinds:
        return from_study(given)
    try:
        if isinstance(given, Mapping):
            return Space([_parameter(str(name), item) for name, item in given.items()])
        if isinstance(given, Sequence) and given and all(isinstance(item, Float | Integer | Choice) for item in given):
            return Space(given)
    except ValueError as error:
        raise BadRequest(f"The space cannot be used: {error}") from None
    raise BadRequest(
        f"A {type(given).__name__} is no space. Give a mapping such as {{'x': (0.0, 1.0)}}, a list of parameters of "
        "metaml.spaces, a ConfigSpace object, or an Optuna study."
    )


def from_study(study: Any) -> Space:
    """Return the space that the trials of an Optuna study came from.

    A parameter that some trials lack depends on the choice that tells these trials from the others.
    """
    trials = [trial for trial in study.trials if trial.distributions]
    if not trials:
        raise BadRequest("The study has no trial yet, so its space is not known. Run one trial first.")
    distributions = {name: found for trial in trials for name, found in trial.distributions.items()}
    # A parameter that all trials have can be a parent, so it comes first.
    order = sorted(distributions, key=lambda name: -sum(name in trial.params for trial in trials))
    made: list[Parameter] = []
    for name in order:
        made.append(_from_distribution(name, distributions[name], _condition(name, made, trials)))
    return Space(made)


def _condition(name: str, parents: Sequence[Parameter], trials: Sequence[Any]) -> When | None:
    has = [name in trial.params for trial in trials]
    if all(has):
        return None
    for parent in parents:
        if isinstance(parent, Choice):
            with_it = {
                trial.params[parent.name]
                for trial, flag in zip(trials, has, strict=True)
                if flag and parent.name in trial.params
            }
            without = {trial.params.get(parent.name) for trial, flag in zip(trials, has, strict=True) if not flag}
            if with_it and not with_it & without:
                return parent.name, tuple(choice for choice in parent.choices if choice in with_it)
    raise BadRequest(
        f"Some trials of the study lack {name}, and no choice tells which. Give the space as a list of parameters."
    )


def _from_distribution(name: str, distribution: Any, when: When | None) -> Parameter:
    kind = type(distribution).__name__
    if kind == "CategoricalDistribution":
        return Choice(name, tuple(distribution.choices), default=distribution.choices[0], when=when)
    low, high, step = distribution.low, distribution.high, distribution.step
    if kind == "IntDistribution" and step == 1:
        return _integer(name, low, high, log=distribution.log, when=when)
    if kind == "FloatDistribution" and step is None:
        return _float(name, low, high, log=distribution.log, when=when)
    n_steps = round((high - low) / step)
    values: tuple[Value, ...] = tuple(low + k * step for k in range(n_steps + 1))
    return Choice(name, values, default=values[len(values) // 2], when=when)


def _parameter(name: str, item: Any) -> Parameter:
    """Return one parameter from plain Python."""
    if isinstance(item, Float | Integer | Choice):
        if item.name != name:
            raise BadRequest(f"The parameter {item.name!r} is listed as {name!r}. Use one name.")
        return item
    if isinstance(item, list | set | frozenset) and item:
        choices = tuple(item) if isinstance(item, list) else tuple(sorted(item))
        return Choice(name, choices, default=choices[0])
    if isinstance(item, tuple) and len(item) in (2, 3) and (len(item) == 2 or item[2] in ("log", "linear")):
        low, high, is_log = item[0], item[1], item[2:] == ("log",)
        if all(isinstance(edge, int) and not isinstance(edge, bool) for edge in (low, high)):
            return _integer(name, low, high, log=is_log)
        if all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in (low, high)):
            return _float(name, float(low), float(high), log=is_log)
    raise BadRequest(
        f"{name} is {item!r}, which is no parameter. Give a pair such as (0.0, 1.0), a triple such as "
        '(1, 100, "log"), or a list of choices.'
    )


def _float(name: str, low: float, high: float, *, log: bool, when: When | None = None) -> Float:
    if log and low <= 0:
        raise BadRequest(f"{name} begins at {low:g}, so it has no logarithmic scale. Begin above 0.")
    middle = (low * high) ** 0.5 if log else (low + high) / 2
    return Float(name, low, high, default=min(max(float(f"{middle:.6g}"), low), high), log=log, when=when)


def _integer(name: str, low: int, high: int, *, log: bool, when: When | None = None) -> Integer:
    if log and low <= 0:
        raise BadRequest(f"{name} begins at {low}, so it has no logarithmic scale. Begin at 1 or more.")
    middle = round((low * high) ** 0.5) if log else (low + high) // 2
    return Integer(name, low, high, default=min(max(middle, low), high), log=log, when=when)
