"""What an algorithm is: a name, a space for each task, and a way to build estimators from configurations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.trusted_classes import TrustedClass
from metaml.arrays import Flags
from metaml.errors import BadConfig
from metaml.spaces.config import Config, Value

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Dataset, Task
    from metaml.spaces import Space

Matrix = npt.NDArray[Any]
"""Rows × columns of plain numbers: what leaves the pipeline head and enters a model."""
Vector = npt.NDArray[Any]
Rows = npt.NDArray[np.int64]
Validation = tuple[Matrix, Vector, Vector | None]
"""Held-out rows that decide when boosting stops: inputs, target, weights."""


BEST_COLUMNS = "best_columns"
"""A setting beside those of any space: an estimator is fitted to so many of the most useful columns, and no others."""


@dataclass(frozen=True)
class PlainLearner:
    """A learner of a library: its module, its class and the settings of its constructor; `note` says what differs.

    `target_powers` names the settings that are in units of the target, or of a power of them, such as penalties. Here
    they are for a target of standard deviation 1, which our own estimators learn from.
    """

    module: str
    kind: str
    settings: dict[str, Any]
    note: str = ""
    target_powers: Mapping[str, int] = field(default_factory=dict)

    def for_target(self, deviation: float) -> PlainLearner:
        """Return the learner for a target of this standard deviation.

        >>> PlainLearner("m", "K", {"gamma": 0.5, "depth": 3}, target_powers={"gamma": 2}).for_target(10.0).settings
        {'gamma': 50.0, 'depth': 3}
        """
        if not deviation > 0:
            return self
        scaled = {
            name: float(f"{self.settings[name] * deviation**power:.6g}")
            for name, power in self.target_powers.items()
            if name in self.settings
        }
        return replace(self, settings=self.settings | scaled, target_powers={})


def picked(config: Config, *names: str, **renamed: str) -> dict[str, Any]:
    """Return the hyperparameters of these names, some of them under the name that a library has for them.

    >>> picked({"alpha": 1.0, "depth": 3}, "depth", "gamma", alpha="reg_alpha")
    {'depth': 3, 'reg_alpha': 1.0}
    """
    known = {name: config[name] for name in names if name in config}
    return known | {theirs: config[ours] for ours, theirs in renamed.items() if ours in config}


@dataclass(frozen=True)
class Algorithm:
    """A learning algorithm as the bot and the tuner see it.

    `build(config, *, task, seed, n_threads=1, seconds=None)` returns an unfitted estimator whose `fit`, `predict` and,
    for classification, `predict_proba` take the columns of a `Dataset`: float64, or `category` with strings.
    `seconds` is the wall-clock time that `fit` may take, None for any. When it ends, `fit` stops with the best model so
    far and `stopped_early_` is True; it may take longer by a round of training.
    `library` is the distribution whose version decides what the algorithm does; `modules` are what its models import,
    which workers import beforehand. `is_extra`: the library is installed only with metaml's extra of the algorithm's
    name.

    `first_turn` is its place, from 1, in the order in which defaults are tried when nothing is known: strong and quick
    ones first. An algorithm without a turn comes after all that have one. `first_turn_if_wide` is its place where a
    table has so many columns that boosting may take the whole budget; `first_turn_if_slow` where boosting, which grows
    trees for each class, may take much of it. There, algorithms without a turn are not among the first tries.

    `for_many_rows` are the settings that differ from the default where there are many rows: more capacity. It is tried
    right after the first defaults then.

    `row_power` says how the seconds of an evaluation grow with the rows once there are thousands of them.

    `trees` names the hyperparameter that says how many trees are grown; empty if none does.

    `takes_weights`: `fit` takes `sample_weight`, and a row of weight 2 counts as two. Where rows have weights, other
    algorithms are left out.

    `one_way` says that it can keep a prediction from ever falling, or rising, with a column: it has the values that
    settings may have then, and is empty if they may have any. Where such columns are named, algorithms for which it is
    None are left out.

    `saves` are the classes of its fitted models, beside those that all algorithms share: a model file may hold these.
    `stacks` says whether it is of use in a second layer, whose columns are mostly predictions: neighbours and kernels
    see little in them, and single trees are too weak. `plain` returns, for a configuration, a task and a number of
    columns, the same learner as its library has it, for a program without metaml; None where a library has none.

    `tasks` are those that it serves; where a target is of another one, it is refused or left out.

    `least_budget` is the time budget, in seconds, from which a search tries it without being asked for it by name; None
    if none does. Its default comes early then, as it is known to pay. A bot, and a search that counts evaluations, try
    those that need no budget. `is_readable` says whether a person can read each of its models: a sum of effects of
    single columns or pairs, or a few questions. `reads` returns which columns of its matrix can change what a fitted
    model predicts; without it, all of them count.
    """

    name: str
    space: Callable[[Task], Space]
    build: Callable[..., BaseEstimator]
    library: str = "scikit-learn"
    modules: tuple[str, ...] = ()
    is_extra: bool = False
    first_turn: int | None = None
    first_turn_if_wide: int | None = None
    first_turn_if_slow: int | None = None
    for_many_rows: Config | None = None
    row_power: float = 1.0
    trees: str = ""
    takes_weights: bool = True
    one_way: Mapping[str, tuple[Value, ...]] | None = None
    saves: tuple[TrustedClass, ...] = ()
    stacks: bool = True
    plain: Callable[[Config, Task, int], PlainLearner] | None = None
    least_budget: float | None = 0.0
    tasks: tuple[Task, ...] = ("binary", "multiclass", "regression")
    is_readable: bool = False
    reads: Callable[[Any], Flags] | None = None

    def unfitted(
        self, config: Config, dataset: Dataset, *, seed: int, n_threads: int = 1, seconds: float | None = None
    ) -> BaseEstimator:
        """Return an estimator to be fitted to rows of a data set; it keeps to the directions of the columns."""
        own = {name: value for name, value in config.items() if name != BEST_COLUMNS}
        estimator = self.build(own, task=dataset.task, seed=seed, n_threads=n_threads, seconds=seconds)
        if not dataset.directions:
            return estimator
        if self.one_way is None:
            raise BadConfig(f"{self.name} cannot keep a prediction from falling or rising with a column.")
        for name, allowed in self.one_way.items():
            if name in config and config[name] not in allowed:
                raise BadConfig(f"With {name} {config[name]!r}, {self.name} cannot keep to increasing or decreasing.")
        return estimator.set_params(directions=dataset.directions)

    def columns_read(self, estimator: Any) -> set[str]:
        """Return the features that can change what a fitted estimator predicts; none of one that knows a single answer.

        >>> from types import SimpleNamespace
        >>> knows_one_class = SimpleNamespace(classes_=[1])
        >>> Algorithm("svm", space=None, build=None).columns_read(knows_one_class)
        set()
        """
        head = getattr(estimator, "head_", None)
        if head is None:
            return set()
        sources = head.sources()
        flags = [True] * len(sources) if self.reads is None else self.reads(estimator.model_)
        return {name for name, is_read in zip(sources, flags, strict=False) if is_read}


@dataclass(frozen=True, eq=False, kw_only=True)
class Training:
    """How a booster is trained: the weight of each row, which columns hold category codes, and for how long.

    `n_rows` is how many rows these count as by the weights that they came with. `directions` has 1 for each column of
    the matrix with which the prediction may only rise, -1 where it may only fall, else 0; it is empty if none is.

    Training lasts for `rounds`, or until `validation` stops improving. Without either, the number of rounds is fixed.
    In any case it ends when the `allowance` does, after at least one round.
    """

    weight: Vector | None
    n_rows: float
    categorical: Flags
    validation: Validation | None
    rounds: int | None
    allowance: Allowance
    directions: tuple[int, ...] = ()


class Booster(ABC):
    """A model that is trained round by round and can stop when held-out rows no longer improve."""

    rounds_: int

    def __init__(self, config: Config, *, seed: int, n_threads: int) -> None:
        self.config: dict[str, Any] = config
        self.seed = seed
        self.n_threads = n_threads

    @abstractmethod
    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        """Learn from rows and their target."""

    @abstractmethod
    def predict(self, Z: Matrix) -> Vector:
        """Return the predicted target of each row (regression)."""

    @abstractmethod
    def predict_proba(self, Z: Matrix) -> Matrix:
        """Return the probability of each class (classification)."""
