"""The records of the knowledge base, as frozen values. A record is identified by a hash of its content."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal, get_args

import numpy as np

from metaml_kb.errors import BadRecord
from metaml_kb.predictions.packed import PackedPredictions

Value = str | int | float | bool | None
Event = tuple[str, Mapping[str, Any]]
"""Something that happened in a session: its kind in one word, and its details."""
Status = Literal["ok", "partial", "timeout", "memory", "crashed", "failed"]
Origin = Literal["default", "random", "warm start", "surrogate", "imported", "repeat", "grid"]
STATUSES: tuple[str, ...] = get_args(Status)
ORIGINS: tuple[str, ...] = get_args(Origin)
TASKS = ("binary", "multiclass", "regression")
FINAL = "final"
"""The name in a session's settings under which its final model is: a mapping with `metric`, `score` and, if it is an
ensemble, `members`, pairs of a run key and its weight."""


def plain(value: Any) -> Any:
    """Return a NumPy scalar as the Python value that every database accepts; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _plain_or_refused(value: object) -> object:
    if isinstance(value, np.generic):
        return plain(value)
    raise TypeError


_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain_or_refused
).encode


def canonical_json(config: Mapping[str, Value]) -> str:
    """Return the JSON text of a configuration (`config`). Equal configurations have equal texts.

    Keys are sorted, there are no spaces, and types stay different: 1, 1.0 and true are three values. Raises `BadRecord`
    if a value is not a word, a finite number, True, False or None.

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
    except (TypeError, ValueError) as error:
        raise BadRecord(_why_not_json(config)) from error
    # A nested value needs a second bracket. This fast test avoids a look at every value of millions of runs.
    if text.count("[") + text.count("{") > 1 and any(
        isinstance(value, Mapping | list | tuple) for value in config.values()
    ):
        raise BadRecord(_why_not_json(config))
    return names, text


def _why_not_json(config: Mapping[str, Value]) -> str:
    """Return the error message about the first value that a configuration must not contain."""
    for name, value in config.items():
        is_plain = isinstance(value, str | int | float | bool | None | np.generic)
        if not is_plain or (isinstance(value, float) and not math.isfinite(value)):
            return (
                f"Hyperparameter {name!r} is {value!r}. Give a word, a finite number, True, False or None; "
                "leave an inactive hyperparameter out."
            )
    return f"The configuration {config!r} cannot be written as JSON. Give words for names and plain values."


def digest(*parts: str) -> str:
    """Return a hash of these texts in this order: 32 hexadecimal characters.

    >>> digest("iris", "svm") == digest("svm", "iris")
    False
    """
    return blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """A data set: its name, task and size, never its rows.

    - `fingerprint`: a hash of the content, or `name:…` if only the name is known. `name`: what people call it.
    - `task`: binary, multiclass, regression or unknown.
    - `target`: the column to predict.
    - `n_rows`, `n_columns`, `n_classes`: its size; None if not known.
    - `source`: where it came from, such as file, openml or import.
    - `details`: anything else, as JSON values.

    >>> DatasetRecord("f" * 32, "iris", task="multiclass", target="species", n_rows=150, n_classes=3).source
    'file'
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
    """How the rows of a data set are divided into folds.

    - `key`: identifies the plan; runs name it in `Run.fold_plan`.
    - `strategy`: how rows were assigned, such as stratified.
    - `n_folds`, `seed`, `max_rows`: the number of folds, the seed, and the largest number of rows used.
    - `assignment`: one fold number per row, as zlib-compressed int16. -1 is an unused row, -2 a row that is only
      trained on. Where folds train on other rows than those they do not test, a bit for each fold and row follows.

    >>> FoldPlanRecord("p1", strategy="stratified", n_folds=5, seed=0).n_folds
    5
    """

    key: str
    strategy: str = "unknown"
    n_folds: int | None = None
    seed: int | None = None
    max_rows: int | None = None
    assignment: bytes | None = None


@dataclass(frozen=True, slots=True)
class EnvironmentRecord:
    """Where runs were made.

    - `versions`: library versions, by name.
    - `host`, `platform`, `processor`: names of the machine, its operating system and its processor.
    - `reference_seconds`: the seconds that a fixed reference workload takes there; None if not measured.

    >>> here = EnvironmentRecord({"scikit-learn": "1.8.0"}, host="laptop")
    >>> here.key == EnvironmentRecord({"scikit-learn": "1.8.0"}, host="laptop", reference_seconds=0.5).key
    True
    """

    versions: Mapping[str, str]
    host: str = ""
    platform: str = ""
    processor: str = ""
    reference_seconds: float | None = None

    @property
    def key(self) -> str:
        """The hash that identifies this environment. The reference seconds are a measurement, so not part of it.

        >>> len(EnvironmentRecord({"scikit-learn": "1.8.0"}).key)
        32
        """
        return digest(_encode(dict(self.versions)), self.host, self.platform, self.processor)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One call of `bot`, `tune` or `import`, with its settings.

    - `key`: identifies the session; runs name it in `Run.session`.
    - `kind`: bot, tune, import or starter.
    - `started_at`, `finished_at`: seconds since 1970, UTC. `finished_at` is None while it runs.
    - `seed`, `settings`: what it was started with. A `user` and a `project` are settings; `final` is the metric and
      score of the model that it ended with.

    >>> SessionRecord("s1", "import", started_at=0.0).finished_at is None
    True
    """

    key: str
    kind: str
    started_at: float
    finished_at: float | None = None
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """Who proposed a run, and what they predicted for it.

    - `proposer`: the name of the strategy or program.
    - `predicted_score`, `predicted_std`: the predicted score (higher is better) and its standard deviation.
    - `predicted_seconds`: the predicted seconds of the evaluation.
    - `acquisition`: the value of the acquisition function that chose it.
    - `details`: anything else, such as reasons, as JSON values.

    >>> ProposalRecord("gaussian process", predicted_score=0.93, predicted_std=0.02).predicted_score
    0.93
    """

    proposer: str
    predicted_score: float | None = None
    predicted_std: float | None = None
    predicted_seconds: float | None = None
    acquisition: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished evaluation: one configuration of one algorithm on one data set.

    - `dataset`: the fingerprint of a stored data set.
    - `algorithm`, `config`: the name, and the active hyperparameters with their values.
    - `scores`: for each metric its values per fold, or one number if only the mean is known. Higher is better; a loss
      is stored negated.
    - `fold_plan`: the key of a fold plan. `seed`: the seed of the evaluation.
    - `status`: ok, partial, timeout, memory, crashed or failed. `error`: what went wrong.
    - `fit_seconds`, `predict_seconds`, `peak_megabytes`: the cost, summed over folds as measured.
    - `model_bytes`, `row_seconds`, `n_columns_read`: the size of one fold's model, the seconds that it takes for one
      row alone, and the number of raw columns that can change its predictions.
    - `origin`: default, random, warm start, surrogate, imported, repeat (evaluated again on other folds) or grid.
    - `probability`: the sampling density of a random configuration.
    - `session`, `environment`: keys of a stored session and environment.
    - `proposal`: who proposed the run. `predictions`: out-of-fold predictions, one row per row of the data set, or
      these packed by `metaml_kb.predictions.pack`; an array is stored as float32.
    - `finished_at`: seconds since 1970, UTC. None means the moment it is stored.

    >>> run = Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}, scores={"accuracy": [0.94, 0.98]})
    >>> run.identity
    'afcac0b87b8ac5105e93be0282621544'
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
    model_bytes: int | None = None
    row_seconds: float | None = None
    n_columns_read: int | None = None
    error: str | None = None
    origin: str = "random"
    probability: float | None = None
    session: str | None = None
    environment: str | None = None
    proposal: ProposalRecord | None = None
    predictions: np.ndarray | PackedPredictions | None = None
    finished_at: float | None = None

    @property
    def identity(self) -> str:
        """The hash that identifies a run in every knowledge base: 32 hexadecimal characters.

        Raises `BadRecord` if the configuration holds a value that cannot be stored.

        >>> len(Run(dataset="f" * 32, algorithm="svm", config={"C": 1.0}).identity)
        32
        """
        return run_identity(self, *split_config(self.config)).hex()


def run_identity(run: Run, names: tuple[str, ...], values: str) -> bytes:
    """Return the 16 bytes that identify a run.

    They hash the data set, the algorithm, the configuration, the fold plan and the seed. For a run that did not
    complete they also hash the status and the number of folds. So a stored time-out does not prevent that a later,
    complete run is stored.
    """
    parts = [run.dataset, run.algorithm, *names, values, run.fold_plan, str(run.seed)]
    if run.status != "ok":
        parts += [run.status, str(n_folds_scored(run))]
    return blake2b("\x1f".join(parts).encode(), digest_size=16).digest()


def n_folds_scored(run: Run) -> int:
    """Return how many folds the run has scores for; 0 if only means are known."""
    return max((np.size(folds) for folds in run.scores.values() if np.ndim(folds)), default=0)
