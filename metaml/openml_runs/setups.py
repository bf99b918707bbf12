"""An OpenML setup, which is what the server calls a configuration: parameters of a flow and of its components."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metaml.spaces.config import Config, Value

_R_WORDS: Mapping[str, Value] = {"TRUE": True, "FALSE": False, "NULL": None, "None": None, "True": True, "False": False}
_NO_HYPERPARAMETERS = {
    *("n_jobs", "nthread", "num.threads", "verbose", "random_state", "seed", "warm_start", "copy", "cache_size"),
    *("openml_seed", "openml_kind", "openml_normal_kind", "openml_sample_kind"),
}
_UNREADABLE = object()


@dataclass(frozen=True)
class Setup:
    """`own` are the parameters of the flow itself, `parts` those of each component by its class's name."""

    flow: int
    own: Config
    parts: Mapping[str, Config]

    def part(self, name: str) -> Config | None:
        """Return the parameters of a component, None if the flow has no such component."""
        return self.parts.get(name)

    def flat(self) -> Config:
        """Return all hyperparameters in one dictionary; those of a component are called Component.name."""
        nested = {f"{part}.{name}": value for part, config in self.parts.items() for name, value in config.items()}
        return {
            name: value
            for name, value in sorted((self.own | nested).items())
            if name.rpartition(".")[2] not in _NO_HYPERPARAMETERS and name not in _NO_HYPERPARAMETERS
        }


def read_setup(flow: int, parameters: Iterable[Any]) -> Setup:
    """Return the setup in openml's parameter objects; values that are not plain JSON (lists of steps) are left out."""
    own: Config = {}
    parts: dict[str, Config] = {}
    for parameter in parameters:
        value = read_value(parameter.value)
        if value is _UNREADABLE:
            continue
        is_own = int(parameter.flow_id) == flow
        place = own if is_own else parts.setdefault(class_name(parameter.flow_name), {})
        place[parameter.parameter_name] = value
    return Setup(flow, own, parts)


def class_name(flow_name: str) -> str:
    """Return the class in a flow's name.

    >>> class_name("sklearn.ensemble.forest.RandomForestClassifier")
    'RandomForestClassifier'
    >>> class_name("sklearn.pipeline.Pipeline(numeric=sklearn.impute.SimpleImputer)(1)")
    'Pipeline'
    """
    return flow_name.partition("(")[0].rpartition(".")[2]


def read_value(text: str | None) -> Any:
    """Return what a value's text says: JSON from scikit-learn's flows, R's spelling from mlr's.

    >>> read_value('"gini"'), read_value("gini"), read_value("0.5"), read_value("null"), read_value("TRUE")
    ('gini', 'gini', 0.5, None, True)
    """
    if text is None:
        return _UNREADABLE
    if text in _R_WORDS:
        return _R_WORDS[text]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if isinstance(value, list | dict) or (isinstance(value, float) and not math.isfinite(value)):
        return _UNREADABLE
    return value
