"""A job asks for an evaluation, an outcome answers it: small, frozen values that can be pickled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from metaml.spaces.config import Config
from metaml.splits import FoldPlan

Status = Literal["ok", "partial", "timeout", "memory", "crashed", "failed"]


@dataclass(frozen=True)
class Limits:
    """What one evaluation may use: wall-clock seconds, and megabytes (10⁶ bytes) of growth, None for any."""

    seconds: float
    megabytes: float | None = None


@dataclass(frozen=True)
class Race:
    """The run to beat: its score on each fold, by the metric that counts."""

    metric: str
    scores: tuple[float, ...]

    def is_lost(self, scores: Sequence[float]) -> bool:
        """Return whether these scores on the first folds leave no hope.

        The mean gap to the run to beat must exceed two standard errors of the gaps, and the spread of that run's
        own folds: two folds that agree by chance do not end a race.

        >>> race = Race("accuracy", (0.90, 0.92, 0.91))
        >>> race.is_lost([0.5]), race.is_lost([0.5, 0.52]), race.is_lost([0.89, 0.93])
        (False, True, False)
        """
        n = len(scores)
        if n < 2 or n > len(self.scores):
            return False
        gaps = np.subtract(self.scores[:n], scores)
        spread = float(np.std(self.scores))
        return bool(gaps.mean() > max(2 * gaps.std(ddof=1) / math.sqrt(n), spread, 0.0))


@dataclass(frozen=True)
class Overtime:
    """How far an evaluation may exceed its time limit if it is ahead of the best one so far.

    `scores` are those of the best one on each fold; without a best one, every evaluation is ahead. It may take
    `seconds` in all, and no more than `left`: the seconds until the deadline, counted from when it is submitted. An
    executor subtracts the time that a job waited. An evaluation that would exceed its limit and is not ahead ends
    after the fold that shows it.
    """

    metric: str
    scores: tuple[float, ...]
    seconds: float
    left: float

    def is_for(self, scores: Sequence[float], expected: float) -> bool:
        """Return whether an evaluation with these scores on its first folds may take the `expected` seconds in all.

        >>> overtime = Overtime("accuracy", (0.90, 0.92, 0.91), seconds=10.0, left=math.inf)
        >>> overtime.is_for([0.91], 9.0), overtime.is_for([0.91], 11.0), overtime.is_for([0.89], 9.0)
        (True, False, False)
        """
        gaps = [own - best for own, best in zip(scores, self.scores, strict=False) if not math.isnan(own - best)]
        is_ahead = not self.scores or sum(gaps) > 0
        return is_ahead and expected <= min(self.seconds, self.left)


@dataclass(frozen=True)
class MinimumScore:
    """The score from which on somebody may use the predictions and the models of an evaluation."""

    metric: str
    score: float = -math.inf


class FoldDone(NamedTuple):
    """A fold of an evaluation under way: the pickled estimator that was fitted, and its scores."""

    model: bytes
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Job:
    """One evaluation asked for. The data set is named by its fingerprint.

    - `folds`: evaluate only these folds of the plan.
    - `race`: end the evaluation after the fold on which it loses the race.
    - `overtime`: stop early if a limit would be exceeded, but allow more time to a job that is ahead of the best run.
    - `keep_predictions`, `keep_models`: return the out-of-fold predictions, and the model of each fold. With
      `tells_folds`, each model is sent as soon as its fold is done, even if a later fold fails.
    - `bar`: return neither predictions nor models of an evaluation that scores less, or loses its race: nobody will use
      them, and on a cluster they would have to travel.
    - `predicts_unused`: the fold models also predict the rows that the plan does not use; their mean is returned. It
      shows how the models do on new rows.
    - `refit`: do not evaluate. Fit the algorithm to all rows, or to the training rows of the one fold that is named,
      and return the estimator.
    - `fit_seconds`: the time that each fit may take; None is no limit. A fit that runs out of time returns the best
      model that it has.
    """

    dataset: str
    algorithm: str
    config: Config
    plan: FoldPlan
    seed: int
    limits: Limits
    folds: tuple[int, ...] | None = None
    keep_predictions: bool = False
    keep_models: bool = False
    tells_folds: bool = False
    race: Race | None = None
    overtime: Overtime | None = None
    bar: MinimumScore | None = None
    refit: bool = False
    fit_seconds: float | None = None
    predicts_unused: bool = False

    @property
    def asked_folds(self) -> tuple[int, ...]:
        """Return the folds to evaluate, all of the plan's unless `folds` names some."""
        return tuple(range(self.plan.n_folds)) if self.folds is None else self.folds

    @property
    def longest_seconds(self) -> float:
        """Return the seconds that its evaluation may take, with overtime."""
        return max(self.limits.seconds, 0.0 if self.overtime is None else self.overtime.seconds)

    def after_waiting(self, seconds: float) -> Job:
        """Return the job as it is once it has waited for a worker: its deadline is nearer."""
        if self.overtime is None:
            return self
        return replace(self, overtime=replace(self.overtime, left=self.overtime.left - seconds))


@dataclass(frozen=True, eq=False)
class Outcome:
    """The answer to a job.

    `ok`: every fold of the plan; `partial`: fewer, as asked for or as the race was lost; `timeout` and `memory`: a
    limit was overrun, or would have been; `crashed`: the process died; `failed`: the learner raised or predicted
    nonsense. Only `ok` and `partial` have `scores`: for each metric one value per fold in `folds`, higher is better.
    `fit_seconds` and `predict_seconds` are sums over folds, `seconds` is wall-clock time, `peak_megabytes` growth over
    the memory in use when the evaluation began. `predictions`, where asked for, has a row per row of the data set:
    class probabilities (float32, one column per label) or values (float64); rows that were not predicted are NaN.
    `models` has the pickled estimator of each fold, if they were asked for, all folds are complete and they are small
    enough; if they are too large together, `one_model` has that of the first fold. `estimator` is the result of a
    refit. All are fitted to the codes of the data set's target.
    `expected_seconds` is what all folds would have taken, if that is known and more than `seconds`. `stopped_early` is
    True if a fit ran out of `fit_seconds`: the result is valid, but the same job may give another one. `model_bytes` is
    the size of one fold's model as pickled, `row_seconds` what it takes to predict one row alone, and `n_columns_read`
    the number of raw columns that can change its predictions.

    `environment` describes the machine that made it, as `evaluation.environment` does; None is this machine. One second
    there is worth `scale` seconds here, by the reference workload.
    """

    status: Status
    seconds: float
    scores: dict[str, tuple[float, ...]] = field(default_factory=dict)
    folds: tuple[int, ...] = ()
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    peak_megabytes: float = 0.0
    error: str | None = None
    predictions: npt.NDArray[Any] | None = None
    models: tuple[bytes, ...] = ()
    one_model: bytes = b""
    estimator: Any = None
    expected_seconds: float = 0.0
    stopped_early: bool = False
    model_bytes: int | None = None
    row_seconds: float | None = None
    n_columns_read: int | None = None
    environment: Mapping[str, Any] | None = None
    scale: float = 1.0

    def as_if_here(self) -> Outcome:
        """Return the outcome with the seconds that this machine would have taken.

        >>> Outcome("ok", 3.0, scale=0.5).as_if_here().seconds
        1.5
        """
        if self.scale == 1.0:
            return self
        return replace(
            self,
            seconds=self.scale * self.seconds,
            fit_seconds=self.scale * self.fit_seconds,
            predict_seconds=self.scale * self.predict_seconds,
            expected_seconds=self.scale * self.expected_seconds,
            scale=1.0,
        )

    def as_far_as_used(self, job: Job) -> Outcome:
        """Return the outcome without predictions and models if it is below the bar of its job."""
        bar = job.bar
        if bar is None or not (len(self.folds) < len(job.asked_folds) or self.score(bar.metric) < bar.score):
            return self
        return replace(self, predictions=None, models=(), one_model=b"")

    def told_folds(self) -> tuple[FoldDone, ...]:
        """Return what an evaluation that tells its folds has told of those whose models it returns.

        >>> Outcome("ok", 1.0, {"accuracy": (0.5, 0.7)}, folds=(0, 1), models=(b"one", b"two")).told_folds()[1]
        FoldDone(model=b'two', scores={'accuracy': 0.7})
        """
        models = self.models or ((self.one_model,) if self.one_model else ())
        return tuple(
            FoldDone(model, {name: values[place] for name, values in self.scores.items()})
            for place, model in enumerate(models)
        )

    def score(self, metric: str) -> float:
        """Return the mean of a metric over the folds where it is defined, NaN when there are none.

        >>> Outcome("ok", 1.0, {"accuracy": (0.5, 1.0, math.nan)}, folds=(0, 1, 2)).score("accuracy")
        0.75
        """
        defined = [value for value in self.scores.get(metric, ()) if not math.isnan(value)]
        return sum(defined) / len(defined) if defined else math.nan


Evaluator = Callable[[Job], Outcome]
"""In-process in tests, isolated in life; never raises because of what a learner does."""
