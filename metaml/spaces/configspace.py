"""A space as a ConfigSpace object and back: for tools that use ConfigSpace. Needs the extra `metaml[configspace]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.errors import BadRequest
from metaml.spaces.config import Value
from metaml.spaces.parameters import Choice, Float, Integer, Parameter, When
from metaml.spaces.space import Space

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace


def to_configspace(space: Space, seed: int | None = None) -> ConfigurationSpace:
    """Return the same space as a ConfigSpace object, whose draws come from `seed`."""
    ConfigSpace = _library()

    result: ConfigurationSpace = ConfigSpace.ConfigurationSpace(seed=seed)
    made: dict[str, Any] = {}
    for p in space.parameters:
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
    for p in space.parameters:
        if p.when is not None:
            result.add(ConfigSpace.InCondition(made[p.name], made[p.when[0]], list(p.when[1])))
    return result


def from_configspace(space: ConfigurationSpace) -> Space:
    """Return a ConfigSpace object as a Space: uniform numbers, choices, constants, one parent each."""
    ConfigSpace = _library()

    conditions: dict[str, When] = {}
    for condition in space.conditions:
        if (
            not isinstance(condition, ConfigSpace.EqualsCondition | ConfigSpace.InCondition)
            or condition.child.name in conditions
        ):
            raise BadRequest(f"Only one `equals` or `in` condition per parameter can be read, not {condition}.")
        values = [condition.value] if isinstance(condition, ConfigSpace.EqualsCondition) else condition.values
        conditions[condition.child.name] = (condition.parent.name, tuple(map(_plain, values)))
    return Space([_from_hyperparameter(h, conditions.get(h.name)) for h in space.values()])


def _library() -> Any:
    try:
        import ConfigSpace
    except ImportError:
        raise BadRequest("ConfigSpace is not installed. Install it with: pip install 'metaml[configspace]'") from None
    return ConfigSpace


def _plain(value: Any) -> Value:
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[no-any-return]


def _from_hyperparameter(hyperparameter: Any, when: When | None) -> Parameter:
    ConfigSpace = _library()

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
