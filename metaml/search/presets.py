"""Whole ways to search under one name, and how single options change them."""

from dataclasses import dataclass, replace

from metaml.bandits import DEFAULT_POLICY
from metaml.errors import BadRequest
from metaml.search.strategy import CHOICES, Kind, strategy_named


@dataclass(frozen=True)
class Preset:
    """A strategy for each algorithm, and the bandit that shares the budget between them."""

    strategy: str = "default"
    bandit: str = DEFAULT_POLICY


PRESETS: dict[str, Preset] = {
    "default": Preset(),
    "thesis": Preset("gbqr+bound_per_log_second+delta+blended", "increasing_effort"),
}
"""`thesis` is van Hoof (2018) as a whole: GBQR (5.3), seconds (5.4), delta starts and votes of the meta-learner (6.4),
and increasing effort (7.4)."""


def preset_named(name: str | None) -> Preset:
    """Return a preset by its name; without a name, the default."""
    if name is not None and name not in PRESETS:
        raise BadRequest(f"No preset is named {name!r}. Choose one of {', '.join(PRESETS)}.")
    return PRESETS[name or "default"]


def with_choices(strategy: str, **chosen: str | None) -> str:
    """Return a strategy with one choice for each kind that is given.

    >>> with_choices("gbqr+delta", starts="best", acquisition=None)
    'gbqr+best'
    """
    for kind, value in chosen.items():
        if value is not None:
            name = value.partition(":")[0]
            if CHOICES.get(name) != kind:
                known = [other for other, of in CHOICES.items() if of == kind]
                raise BadRequest(f"There is no {kind} {name!r}. Choose one of {', '.join(known)}.")
            strategy = _replaced(strategy, CHOICES[name], value)
    return strategy


def _replaced(strategy: str, kind: Kind, value: str) -> str:
    named = replace(strategy_named(strategy), **{kind: value})
    return strategy_named(named.text).text
