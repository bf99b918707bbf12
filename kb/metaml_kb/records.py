"""What the knowledge base stores, as frozen values; identities are hashes of content, never row numbers."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal, get_args

import numpy as np

from metaml_kb.errors import BadRecord

Value = str | int | float | bool | None
Event = tuple[str, Mapping[str, Any]]
"""What happened in a session, in a word, and its details."""
Status = Literal["ok", "partial", "timeout", "memory", "crashed", "failed"]
Origin = Literal["default", "random", "warm start", "surrogate", "imported"]
STATUSES: tuple[str, ...] = get_args(Status)
ORIGINS: tuple[str, ...] = get_args(Origin)
TASKS = ("binary", "multiclass", "regression")


def plain(value: Any) -> Any:
    """Return a NumPy scalar as Python's own, which every database knows; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _plain_or_refused(value: object) -> object:
    if isinstance(value, np.generic):
        return plain(value)
    raise TypeError


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain_or_refused
).encode


def canonical_json(config: Mapping[str, Value]) -> str:
    """Return the one JSON text of a configuration: sorted keys, no blanks, types kept apart.

    >>> canonical_json({"depth": None, "bootstrap": True, "rate": 1.0})
    '{"bootstrap":true,"depth":null,"rate":1.0}'
    """
    names, values = split_config(config)
    return _encode(dict(zip(names, json.loads(values), strict=True)))


def split_config(config: Mapping[str, Value]) -> tuple[tuple[str, ...], str]:
    """Return a configuration's sorted names and the JSON array of its values in that order.

    >>> split_config({"depth": None, "bootstrap": True})
    (('bootstrap', 'depth'), '[true,null]')
    """
    try:
        names = tuple(sorted(config))
        text = _encode([config[name] for name in names])
    except (TypeError, ValueError) as trouble:
        raise BadRecord(_why_not_json(config)) from trouble
    # A nested value opens a second bracket; the cheap test spares a look at every value of millions of runs.
    if text.count("[") + text.count("{") > 1 and any(
        isinstance(value, Mapping | list | tuple) for value in config.values()
    ):
        raise BadRecord(_why_not_json(config))
    return names, text


def _why_not_json(config: Mapping[str, Value]) -> str:
    """Return the sentence that names the first value a configuration may not hold."""
    for name, value in config.items():
        is_plain = isinstance(value, str | int | float | bool | None | np.generic)
        if not is_plain or (isinstance(value, float) and not math.isfinite(value)):
            return (
                f"Hyperparameter {name!r} is {value!r}. Give a word, a finite number, True, False or None; "
                "leave an inactive hyperparameter out."
            )
    return f"The configuration {config!r} cannot be written as JSON. Give words for names and plain values."


def digest(*parts: str) -> str:
    """Return 32 hexadecimal characters that identify these texts in this order."""
    return blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """A data set as the knowledge base knows it: what it is, never its rows.

    `fingerprint` is a hash of the content, or `name:…` for a data set of which only the name is known.
    """

    fingerprint: str
    name: str
    task: str = "unknown"
    target: str | None = None
    n_rows: int | None = None
    n_columns: int | None = None
    n_classes: int | None = None
    source: str = "file"
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoldPlanRecord:
    """Which rows are in which fold.

    `assignment` holds one fold number per row (-1: unused, -2: trains only), as zlib-packed int16.
    """

    key: str
    strategy: str = "unknown"
    n_folds: int | None = None
    seed: int | None = None
    max_rows: int | None = None
    assignment: bytes | None = None


@dataclass(frozen=True, slots=True)
class EnvironmentRecord:
    """Where runs were made: library versions, host, and the seconds of the fixed reference workload there."""

    versions: Mapping[str, str]
    host: str = ""
    platform: str = ""
    processor: str = ""
    reference_seconds: float | None = None

    @property
    def key(self) -> str:
        """The hash that identifies this environment; the reference seconds are a measurement, not part of it."""
        return digest(_encode(dict(self.versions)), self.host, self.platform, self.processor)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One `bot`, `tune` or `import`, with the settings it was started with."""

    key: str
    kind: str
    started_at: float
    finished_at: float | None = None
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """What was predicted of a run when it was proposed, and by whom."""

    proposer: str
    predicted_score: float | None = None
    predicted_std: float | None = None
    predicted_seconds: float | None = None
    acquisition: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished evaluation.

    `scores` maps a metric to its value per fold, or to one number where only the mean is known; higher is better.
    `probability` is the sampling density of a random configuration. `finished_at` counts seconds since 1970, UTC.
    """

    dataset: str
    algorithm: str
    config: Mapping[str, Value]
    scores: Mapping[str, float | Sequence[float]] = field(default_factory=dict)
    fold_plan: str = ""
    seed: int = 0
    status: str = "ok"
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    peak_megabytes: float | None = None
    error: str | None = None
    origin: str = "random"
    probability: float | None = None
    session: str | None = None
    environment: str | None = None
    proposal: ProposalRecord | None = None
    predictions: np.ndarray | None = None
    finished_at: float | None = None

    @property
    def identity(self) -> str:
        """The hash by which two knowledge bases know that they mean the same run."""
        return run_identity(self, *split_config(self.config)).hex()


def run_identity(run: Run, names: tuple[str, ...], values: str) -> bytes:
    """Return the 16 bytes that identify a run.

    They hash the data set, the algorithm, the configuration, the fold plan and the seed. An attempt that did not
    complete is another fact than the complete run, so its status and number of folds are hashed too: a time-out
    never stands in the way of a later success.
    """
    parts = [run.dataset, run.algorithm, *names, values, run.fold_plan, str(run.seed)]
    if run.status != "ok":
        parts += [run.status, str(n_folds_scored(run))]
    return blake2b("\x1f".join(parts).encode(), digest_size=16).digest()


def n_folds_scored(run: Run) -> int:
    """Return how many folds the run has scores for; 0 where only means are known."""
    return max((np.size(folds) for folds in run.scores.values() if np.ndim(folds)), default=0)
