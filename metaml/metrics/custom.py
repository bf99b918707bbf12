"""A metric of the user's own: a function of truth and prediction, or a scorer of scikit-learn."""

from __future__ import annotations

import inspect
import math
import numbers
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.arrays import Array
from metaml.errors import BadRequest
from metaml.metrics.base import Metric, Weight
from metaml.system.threads import importing

if TYPE_CHECKING:
    from metaml.data import Task

CUSTOM = "custom:"
"""What the name of such a metric begins with: nothing else in a knowledge base has such a name."""
OwnFunction = Callable[..., Any]
"""`metric(y_true, prediction)`, or a scorer: `scorer(estimator, X, y)`. Higher is better."""


def custom_metric(function: OwnFunction, task: Task, labels: Array | None) -> Metric:
    """Return the metric that a function is; `labels` are those of the codes of a classification, None for regression.

    The function gets the labels or values as the user knows them. A scorer may ask for probabilities, too.
    """
    if not callable(function):
        raise BadRequest(f"A metric is a name or a function, not {function!r}. Give one of them.")
    name = custom_name(function)
    asked = _of_scorer if _is_scorer(function) else _of_function
    return Metric(
        name=name,
        label=name.removeprefix(CUSTOM),
        tasks=(task,),
        needs="values" if labels is None else "probabilities",
        function=partial(_value, partial(asked, function), labels, name),
        is_bounded=False,
    )


def custom_name(function: OwnFunction) -> str:
    """Return what the metric of a function is stored under.

    >>> def profit(y_true, prediction): ...
    >>> custom_name(profit)
    'custom:profit'
    """
    inner = getattr(function, "_score_func", function)
    name = str(getattr(inner, "__name__", type(inner).__name__))
    return CUSTOM + (re.sub(r"\W+", "_", name).strip("_") or "metric")


def stand_in(name: str) -> Metric:
    """Return the metric of a function that is not at hand: it has a name, and an error instead of scores."""

    def absent(*_: object) -> float:
        raise BadRequest(
            f"The metric {name!r} is a function of the program that ran the search. Give it again: metric=FUNCTION."
        )

    return Metric(
        name=name,
        label=name.removeprefix(CUSTOM),
        tasks=("binary", "multiclass", "regression"),
        needs="probabilities",
        function=absent,
        is_bounded=False,
    )


def check_custom(found: Metric, truth: Array, n_classes: int, weight: Weight) -> None:
    """Raise BadRequest now if a metric cannot judge predictions: here those that are all right."""
    found.function(truth, np.eye(n_classes)[truth] if n_classes else truth, weight)


def _value(
    asked: Callable[..., Any], labels: Array | None, name: str, truth: Array, prediction: Array, weight: Weight = None
) -> float:
    """Return what the function says, or what is wrong with it in one sentence."""
    known = truth if labels is None else labels[truth]
    try:
        value = asked(known, prediction, labels, weight)
    except Exception as error:  # the function is the user's: anything may happen in it
        told = " ".join(f"{type(error).__name__}: {error}".split())
        label = name.removeprefix(CUSTOM)
        raise BadRequest(f"The metric {label} failed: {told[:200]}. Correct the function.") from error
    if not isinstance(value, numbers.Real):
        label = name.removeprefix(CUSTOM)
        raise BadRequest(f"The metric {label} returned {repr(value)[:60]}, not a number. Return one: higher is better.")
    number = float(value)
    return number if math.isfinite(number) else math.nan


def _of_function(function: OwnFunction, truth: Array, prediction: Array, labels: Array | None, weight: Weight) -> Any:
    decided = prediction if labels is None else labels[prediction.argmax(axis=1)]
    if weight is None:
        return function(truth, decided)
    if not _takes_weights(function):
        raise TypeError("rows have weights, and it takes no sample_weight")
    return function(truth, decided, sample_weight=weight)


def _of_scorer(scorer: OwnFunction, truth: Array, prediction: Array, labels: Array | None, weight: Weight) -> Any:
    given = {} if weight is None else {"sample_weight": weight}
    return scorer(_predicted(prediction, labels), np.arange(len(truth))[:, None], truth, **given)


def _predicted(prediction: Array, labels: Array | None) -> Any:
    """Return an estimator of scikit-learn that predicts what was predicted: all that a scorer asks of it."""
    with importing:
        from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = labels

        def predict(self, _: Array) -> Array:
            return np.asarray(np.asarray(labels)[prediction.argmax(axis=1)])

        def predict_proba(self, _: Array) -> Array:
            return np.asarray(prediction)

    class Regressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
        def __sklearn_is_fitted__(self) -> bool:
            return True

        def predict(self, _: Array) -> Array:
            return prediction

    return Regressor() if labels is None else Classifier()


def _is_scorer(function: OwnFunction) -> bool:
    """Return whether a function is asked as `scorer(estimator, X, y)`."""
    return _parameters(function)[:1] == ["estimator"]


def _takes_weights(function: OwnFunction) -> bool:
    return "sample_weight" in _parameters(function)


def _parameters(function: OwnFunction) -> list[str]:
    with suppress(TypeError, ValueError):
        return list(inspect.signature(function).parameters)
    return []
