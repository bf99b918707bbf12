"""Head and model as one scikit-learn estimator that also works on awkward training rows.

Class labels become codes 0 … k-1 before any library sees them, so a fold may lack a class. A
training part with one class, or one target value, is answered with that constant. Regression targets are
standardised, so that penalties and minimum gains mean the same on every data set.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgWarning
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Matrix, Rows, Training, Vector
from metaml.algorithms.boosting import split_rows
from metaml.algorithms.categories import Columns
from metaml.algorithms.preprocessing import Head
from metaml.algorithms.weighted_statistics import weighted_moments
from metaml.spaces.config import Config, Value
from metaml.system.threads import at_most_threads

if TYPE_CHECKING:
    from metaml.data import Task

Settle = Callable[[Matrix, Vector, float], dict[str, Any]]
"""Settings of the model that depend on the training rows, their target and how many rows these count as by weight."""


Train = Callable[[Any, Matrix, Vector, Vector | None, Allowance], object]
"""Fits a model to rows, their target and their weights, as far as the time allows."""


def fit_at_once(model: Any, Z: Matrix, y: Vector, weight: Vector | None, allowance: Allowance) -> None:  # noqa: ARG001
    """Fit a model that is quick and cannot stop on its way, whatever the time."""
    if weight is None:
        model.fit(Z, y)
    else:
        model.fit(Z, y, sample_weight=weight)


WORKING_MEGABYTES = 64
"""What scikit-learn may take for one piece of work, such as distances between rows; its own default is a gigabyte."""
_is_quiet: ContextVar[bool] = ContextVar("is_quiet", default=False)


@contextmanager
def quietly(n_threads: int) -> Iterator[None]:
    """Use at most `n_threads` and little memory, and hide the warnings that random configurations cause in libraries.

    A nested block has no effect.
    """
    if _is_quiet.get():
        yield
        return
    with warnings.catch_warnings(), at_most_threads(n_threads), config_context(working_memory=WORKING_MEGABYTES):
        for category in (ConvergenceWarning, LinAlgWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category=category)
        before = _is_quiet.set(True)
        try:
            yield
        finally:
            _is_quiet.reset(before)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Training rows: columns, target as codes or numbers; `n_classes` is None for a regression.

    `given` are the weights that the rows came with, `weight` those that the model sees: times that of the class.
    """

    X: pd.DataFrame
    y: Vector
    weight: Vector | None
    n_classes: int | None
    given: Vector | None = None

    @property
    def total(self) -> float:
        """Return how many rows these count as."""
        return len(self.y) if self.given is None else float(self.given.sum())

    def only(self, part: Rows) -> _Rows:
        """Return some of the rows."""
        weight, given = (None if item is None else item[part] for item in (self.weight, self.given))
        return _Rows(self.X.iloc[part], self.y[part], weight, self.n_classes, given)


class _Tabular(BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share: fit the head, then the model, both on copies.

    With `holdout`, the model is a `Booster` and that fraction of the training rows decides when it stops;
    `refit` then trains it again on all rows for as many rounds, if there is time. Any other model is fitted by `train`.
    `seconds` is the time that `fit` may take; `stopped_early_` is whether it ended the training. `directions` are the
    columns with which the prediction may only rise (1) or fall (-1); of two classes, it is that of the second.
    """

    # Model files do not have these.
    train: Train = staticmethod(fit_at_once)
    seconds: float | None = None
    stopped_early_: bool = False
    directions: Mapping[str, int] | None = None

    def __init__(
        self,
        head: Head,
        model: Any,
        *,
        settle: Settle | None = None,
        train: Train = fit_at_once,
        class_weight: Value = None,
        holdout: float | None = None,
        refit: bool = False,
        seed: int = 0,
        n_threads: int = 1,
        seconds: float | None = None,
        directions: Mapping[str, int] | None = None,
    ) -> None:
        self.head = head
        self.model = model
        self.settle = settle
        self.train = train
        self.class_weight = class_weight
        self.holdout = holdout
        self.refit = refit
        self.seed = seed
        self.n_threads = n_threads
        self.seconds = seconds
        self.directions = directions

    def _fit_parts(self, rows: _Rows, allowance: Allowance) -> None:
        with quietly(self.n_threads):
            if self.holdout is None:
                self._fit_plain(rows, allowance)
            else:
                self._fit_booster(rows, self.holdout, allowance)

    def _fit_plain(self, rows: _Rows, allowance: Allowance) -> None:
        self.head_, self.model_ = copy.deepcopy(self.head), copy.deepcopy(self.model)
        if self.directions and self.head_.imputation is None:
            # scikit-learn's trees take missing values, or keep to directions, but not both.
            self.head_.imputation = "median"
        Z = self.head_.fit_transform(rows.X, rows.y, rows.n_classes, rows.given)
        if self.directions:
            self.model_.set_params(monotonic_cst=self._directions_of(Z))
        if self.settle is not None:
            self.model_.set_params(**self.settle(Z, rows.y, rows.total))
        self.train(self.model_, Z, rows.y, rows.weight, allowance)

    def _fit_booster(self, rows: _Rows, fraction: float, allowance: Allowance) -> None:
        split = split_rows(rows.y, rows.n_classes, fraction, np.random.default_rng(self.seed))
        if split is None:
            self._train(rows, None, None, allowance)
        else:
            begin = allowance.used
            train, held_out = (rows.only(part) for part in split)
            self._train(train, held_out, None, allowance)
            if self.refit:
                self._refit(rows, (allowance.used - begin) * len(rows.y) / len(train.y), allowance)
        self.rounds_: int = self.model_.rounds_

    def _refit(self, rows: _Rows, expected_seconds: float, allowance: Allowance) -> None:
        """Train again on all rows for as many rounds, unless there is no time to: then the model stays as it is."""
        if allowance.ended_training or allowance.left < expected_seconds:
            allowance.ended_training = True
            return
        head, model = self.head_, self.model_
        self._train(rows, None, model.rounds_, allowance)
        if allowance.ended_training:
            self.head_, self.model_ = head, model

    def _train(self, rows: _Rows, held_out: _Rows | None, rounds: int | None, allowance: Allowance) -> None:
        self.head_, self.model_ = copy.deepcopy(self.head), copy.deepcopy(self.model)
        Z = self.head_.fit_transform(rows.X, rows.y, rows.n_classes, rows.given)
        validation = None if held_out is None else (self.head_.transform(held_out.X), held_out.y, held_out.weight)
        training = Training(
            weight=rows.weight,
            n_rows=rows.total,
            categorical=self.head_.categorical_,
            validation=validation,
            rounds=rounds,
            allowance=allowance,
            directions=self._directions_of(Z) if self.directions else (),
        )
        self.model_.fit(Z, rows.y, training)

    def _directions_of(self, Z: Matrix) -> tuple[int, ...]:
        """Return the direction of each column that leaves the head."""
        known = self.directions or {}
        return tuple(known.get(name, 0) for name in self.head_.sources()) or (0,) * Z.shape[1]


def _used(X: pd.DataFrame, y: Vector, weight: Vector | None) -> tuple[pd.DataFrame, Vector, Vector | None]:
    """Return the rows that have a weight, their target and their weights."""
    if weight is None:
        return X, y, None
    weight = np.asarray(weight, dtype=np.float64)
    used = np.flatnonzero(weight > 0)
    if len(used) == len(weight):
        return X, y, weight
    return X.iloc[used].reset_index(drop=True), np.asarray(y)[used], weight[used]


def rows_of_numbers(X: pd.DataFrame, y: Vector, weight: Vector | None) -> tuple[pd.DataFrame, Vector, Vector | None]:
    """Return the rows that have a weight, their target as numbers, and their weights."""
    return _used(X, np.asarray(y, dtype=np.float64), weight)


class TabularClassifier(ClassifierMixin, _Tabular):  # type: ignore[misc]
    """A classifier for data-set columns; `classes_` are the labels the training rows had."""

    def fit(self, X: pd.DataFrame, y: Vector, sample_weight: Vector | None = None) -> Self:
        """Learn from the training rows; those of weight 0 do not matter."""
        allowance = Allowance(self.seconds)
        X, y, given = _used(X, y, sample_weight)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 1:
            weight = given
            if self.class_weight == "balanced":
                members = np.bincount(codes, given)
                total = len(codes) if given is None else given.sum()
                balanced = (total / (len(members) * members))[codes]
                weight = balanced if given is None else balanced * given
            self._fit_parts(_Rows(X, codes, weight, len(self.classes_), given), allowance)
        self.stopped_early_ = allowance.ended_training
        return self

    def predict_proba(self, X: pd.DataFrame | Columns) -> Matrix:
        """Return the probability of each class in `classes_`; rows sum to 1."""
        if len(self.classes_) == 1:
            return np.ones((len(X), 1))
        with quietly(self.n_threads):
            raw = self.model_.predict_proba(self.head_.transform(X))
        chances: Matrix = np.asarray(raw, dtype=np.float64)
        if not np.isfinite(chances).all():
            chances = np.nan_to_num(chances)
        chances = np.maximum(chances, 0.0)
        total = chances.sum(axis=1, keepdims=True)
        return np.where(total > 0, chances / np.where(total > 0, total, 1.0), 1.0 / len(self.classes_))

    def predict(self, X: pd.DataFrame | Columns) -> Vector:
        """Return the most probable class of each row."""
        result: Vector = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return result


class TabularRegressor(RegressorMixin, _Tabular):  # type: ignore[misc]
    """A regressor for data-set columns.

    Predictions stay within the range of the training targets, widened by its own width on both sides.
    """

    def fit(self, X: pd.DataFrame, y: Vector, sample_weight: Vector | None = None) -> Self:
        """Learn from the training rows; those of weight 0 do not matter."""
        allowance = Allowance(self.seconds)
        X, y, given = rows_of_numbers(X, y, sample_weight)
        self._set_moments(y, given)
        self.low_, self.high_ = float(y.min()), float(y.max())
        self._fit_standardised(X, y, given, allowance)
        return self

    def _set_moments(self, y: Vector, given: Vector | None) -> None:
        # Squares of very large or very small targets overflow or vanish, so the deviation is computed on a unit scale.
        unit = float(np.abs(y).max()) or 1.0
        if given is None:
            self.mean_, self.std_ = unit * float((y / unit).mean()), unit * float((y / unit).std())
        else:
            self.mean_, self.std_ = (unit * float(item[0]) for item in weighted_moments(y[:, None] / unit, given))

    def _fit_standardised(self, X: pd.DataFrame, y: Vector, given: Vector | None, allowance: Allowance) -> None:
        """Fit head and model to the target in units of `std_` from `mean_`; a target with one value needs neither."""
        if self.std_ > 0:
            self._fit_parts(_Rows(X, (y - self.mean_) / self.std_, given, None, given), allowance)
        self.stopped_early_ = allowance.ended_training

    def predict(self, X: pd.DataFrame | Columns) -> Vector:
        """Return the predicted target of each row, always finite."""
        if not self.std_ > 0:
            return np.full(len(X), self.mean_)
        with quietly(self.n_threads):
            raw = np.asarray(self.model_.predict(self.head_.transform(X)), dtype=np.float64).ravel()
        width = self.high_ - self.low_
        values: Vector = np.nan_to_num(raw * self.std_ + self.mean_, nan=self.mean_)
        return np.clip(values, self.low_ - width, self.high_ + width)


def tabular(
    task: Task, config: Config, head: Head, model: Any, **settings: Any
) -> TabularClassifier | TabularRegressor:
    """Return head and model as one estimator; `config` says how classes are weighted."""
    if task == "regression":
        return TabularRegressor(head, model, **settings)
    return TabularClassifier(head, model, class_weight=config["class_weight"], **settings)
