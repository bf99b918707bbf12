"""Head and model as one scikit-learn estimator that also works on awkward training rows.

Class labels become codes 0 … k-1 before any library sees them, so a fold may lack a class. A
training part with one class, or one target value, is answered with that constant. Regression targets are
standardised, so that penalties and minimum gains mean the same on every data set.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from metaml.algorithms.base import Matrix, Training, Vector
from metaml.algorithms.boosting import split_rows
from metaml.algorithms.categories import Columns
from metaml.algorithms.preprocessing import Head
from metaml.spaces.config import Value
from metaml.system.threads import at_most_threads

Settle = Callable[[Matrix, Vector], dict[str, Any]]
"""Settings of the model that depend on the training rows, such as a number of neighbours they can provide."""


_is_quiet: ContextVar[bool] = ContextVar("is_quiet", default=False)


@contextmanager
def quietly(n_threads: int) -> Iterator[None]:
    """Use at most `n_threads`, and hide the warnings that random configurations cause in libraries.

    A nested block has no effect.
    """
    if _is_quiet.get():
        yield
        return
    with warnings.catch_warnings(), at_most_threads(n_threads):
        for category in (ConvergenceWarning, LinAlgWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category=category)
        before = _is_quiet.set(True)
        try:
            yield
        finally:
            _is_quiet.reset(before)


class _Tabular(BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share: fit the head, then the model, both on copies.

    With `holdout`, the model is a `Booster` and that fraction of the training rows decides when it stops;
    `refit` then trains it again on all rows for as many rounds.
    """

    def __init__(
        self,
        head: Head,
        model: Any,
        *,
        settle: Settle | None = None,
        class_weight: Value = None,
        holdout: float | None = None,
        refit: bool = False,
        seed: int = 0,
        n_threads: int = 1,
    ) -> None:
        self.head = head
        self.model = model
        self.settle = settle
        self.class_weight = class_weight
        self.holdout = holdout
        self.refit = refit
        self.seed = seed
        self.n_threads = n_threads

    def _fit_parts(self, X: pd.DataFrame, y: Vector, weight: Vector | None, n_classes: int | None) -> None:
        with quietly(self.n_threads):
            if self.holdout is None:
                self._fit_plain(X, y, weight, n_classes)
            else:
                self._fit_booster(X, y, weight, n_classes, self.holdout)

    def _fit_plain(self, X: pd.DataFrame, y: Vector, weight: Vector | None, n_classes: int | None) -> None:
        self.head_, self.model_ = copy.deepcopy(self.head), copy.deepcopy(self.model)
        Z = self.head_.fit_transform(X, y, n_classes)
        if self.settle is not None:
            self.model_.set_params(**self.settle(Z, y))
        if weight is None:
            self.model_.fit(Z, y)
        else:
            self.model_.fit(Z, y, sample_weight=weight)

    def _fit_booster(
        self, X: pd.DataFrame, y: Vector, weight: Vector | None, n_classes: int | None, fraction: float
    ) -> None:
        split = split_rows(y, n_classes, fraction, np.random.default_rng(self.seed))
        rounds = None
        if split is not None:
            train, valid = split
            self._train(
                X.iloc[train],
                y[train],
                _rows(weight, train),
                n_classes,
                (X.iloc[valid], y[valid], _rows(weight, valid)),
            )
            rounds = self.model_.rounds_
        if split is None or self.refit:
            self._train(X, y, weight, n_classes, None, rounds)
        self.rounds_: int = self.model_.rounds_

    def _train(
        self,
        X: pd.DataFrame,
        y: Vector,
        weight: Vector | None,
        n_classes: int | None,
        held_out: tuple[pd.DataFrame, Vector, Vector | None] | None,
        rounds: int | None = None,
    ) -> None:
        self.head_, self.model_ = copy.deepcopy(self.head), copy.deepcopy(self.model)
        Z = self.head_.fit_transform(X, y, n_classes)
        validation = None if held_out is None else (self.head_.transform(held_out[0]), *held_out[1:])
        training = Training(weight=weight, categorical=self.head_.categorical_, validation=validation, rounds=rounds)
        self.model_.fit(Z, y, training)


class TabularClassifier(ClassifierMixin, _Tabular):  # type: ignore[misc]
    """A classifier for data-set columns; `classes_` are the labels the training rows had."""

    def fit(self, X: pd.DataFrame, y: Vector) -> Self:
        """Learn from the training rows."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 1:
            members = np.bincount(codes)
            balanced = (len(codes) / (len(members) * members))[codes]
            weight = balanced if self.class_weight == "balanced" else None
            self._fit_parts(X, codes, weight, len(self.classes_))
        return self

    def predict_proba(self, X: pd.DataFrame | Columns) -> Matrix:
        """Return the probability of each class in `classes_`; rows sum to 1."""
        if len(self.classes_) == 1:
            return np.ones((len(X), 1))
        with quietly(self.n_threads):
            raw = self.model_.predict_proba(self.head_.transform(X))
        chances: Matrix = np.maximum(np.nan_to_num(np.asarray(raw, dtype=np.float64)), 0.0)
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

    def fit(self, X: pd.DataFrame, y: Vector) -> Self:
        """Learn from the training rows."""
        y = np.asarray(y, dtype=np.float64)
        # Squares of very large or very small targets overflow or vanish, so the deviation is computed on a unit scale.
        unit = float(np.abs(y).max()) or 1.0
        self.mean_, self.std_ = unit * float((y / unit).mean()), unit * float((y / unit).std())
        self.low_, self.high_ = float(y.min()), float(y.max())
        if self.std_ > 0:
            self._fit_parts(X, (y - self.mean_) / self.std_, None, None)
        return self

    def predict(self, X: pd.DataFrame | Columns) -> Vector:
        """Return the predicted target of each row, always finite."""
        if not self.std_ > 0:
            return np.full(len(X), self.mean_)
        with quietly(self.n_threads):
            raw = np.asarray(self.model_.predict(self.head_.transform(X)), dtype=np.float64).ravel()
        width = self.high_ - self.low_
        values: Vector = np.nan_to_num(raw * self.std_ + self.mean_, nan=self.mean_)
        return np.clip(values, self.low_ - width, self.high_ + width)


def _rows(weight: Vector | None, rows: Vector) -> Vector | None:
    return None if weight is None else weight[rows]
