"""Scores: every metric of a task at once, higher is better, once and for all.

Classification metrics see the probabilities of *all* classes of the data set, one column per code, also of those
that a training fold lacked; predicted labels are the most probable ones. A value that a fold cannot define is NaN,
never a warning: `roc_auc` with one class present, `kappa` when one class is both true and predicted throughout,
`r2` of a single row, `spearman` of a constant target. Predictions without any order have a `spearman` of 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from metaml.errors import BadRequest

if TYPE_CHECKING:
    from metaml.data import Task

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Needs = Literal["labels", "probabilities", "values"]

LEAST_PROBABILITY = 1e-15
LARGEST_SCORE = 1e300
CLASSIFICATION: tuple[Task, ...] = ("binary", "multiclass")


@dataclass(frozen=True)
class Metric:
    """A score: `function(truth, prediction)`, where the prediction is what `needs` says.

    `label` is its name in prose; `is_loss` when people know it as a positive loss. `positive` is the class that F1
    looks at; None is the rarer one of the rows at hand.
    """

    name: str
    label: str
    tasks: tuple[Task, ...]
    needs: Needs
    function: Callable[[Array, Array], float]
    is_loss: bool = False
    positive: int | None = None

    def on(self, y: Array) -> Metric:
        """Return the metric for parts of a data set with this target: F1 looks at the same class in all of them."""
        if self.function is not f1:
            return self
        positive = rarer_class(y)
        return replace(self, function=partial(f1, positive=positive), positive=positive)


def accuracy(truth: Array, labels: Array) -> float:
    """Return the share of labels that are right."""
    return float(np.mean(truth == labels))


def balanced_accuracy(truth: Array, labels: Array) -> float:
    """Return the mean recall over the classes present."""
    table = confusion(truth, labels)
    present = table.sum(axis=1) > 0
    return float(np.mean(np.diag(table)[present] / table.sum(axis=1)[present]))


def kappa(truth: Array, labels: Array) -> float:
    """Return the agreement beyond chance (Cohen 1960)."""
    table = confusion(truth, labels) / len(truth)
    by_chance = float(table.sum(axis=0) @ table.sum(axis=1))
    return (float(np.trace(table)) - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan


def f1(truth: Array, labels: Array, positive: int | None = None) -> float:
    """Return the F1 of one of two classes, by default of the rarer one, which is usually the one of interest.

    >>> f1(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])).__round__(3)
    0.667
    """
    positive = rarer_class(truth) if positive is None else positive
    hits = float(np.sum((truth == positive) & (labels == positive)))
    named = float(np.sum(truth == positive) + np.sum(labels == positive))
    return 2 * hits / named if named else math.nan


def rarer_class(y: Array) -> int:
    """Return the rarer of two classes; of equals, the second.

    >>> rarer_class(np.array([0, 1, 1])), rarer_class(np.array([0, 1]))
    (0, 1)
    """
    counts = np.bincount(y, minlength=2)
    return 0 if counts[0] < counts[1] else 1


def f1_macro(truth: Array, labels: Array) -> float:
    """Return the mean F1 over the classes that are present or predicted."""
    table = confusion(truth, labels)
    total = table.sum(axis=0) + table.sum(axis=1)
    return float(np.mean(2 * np.diag(table)[total > 0] / total[total > 0]))


def roc_auc(truth: Array, probabilities: Array) -> float:
    """Return the area under the ROC curve; with more than two classes, each against the rest, averaged.

    Computed as a rank sum (Hanley and McNeil 1982), so ties count half.
    """
    if probabilities.shape[1] == 2:
        return _area(truth == 1, probabilities[:, 1])
    present = np.unique(truth)
    return float(np.mean([_area(truth == code, probabilities[:, code]) for code in present]))


def neg_log_loss(truth: Array, probabilities: Array) -> float:
    """Return the mean log probability of the true class, no probability being below 10⁻¹⁵."""
    of_truth = _unit_rows(probabilities)[np.arange(len(truth)), truth]
    return float(np.mean(np.log(np.clip(of_truth, LEAST_PROBABILITY, 1.0))))


def neg_brier(truth: Array, probabilities: Array) -> float:
    """Return the negative Brier score: in [-1, 0] for two classes, else summed over classes in [-2, 0]."""
    errors = _unit_rows(probabilities).copy()
    errors[np.arange(len(truth)), truth] -= 1
    squares = errors[:, 1] ** 2 if errors.shape[1] == 2 else (errors**2).sum(axis=1)
    return -float(np.mean(squares))


def neg_rmse(truth: Array, values: Array) -> float:
    """Return the negative root of the mean squared error."""
    unit = _unit_of(truth)
    return -math.sqrt(_mean_square((truth - values) / unit)) * unit


def neg_mae(truth: Array, values: Array) -> float:
    """Return the negative mean absolute error."""
    return -float(np.mean(np.abs(truth - values)))


def r2(truth: Array, values: Array) -> float:
    """Return the share of variance explained; for a constant target 1 if all is right, else 0."""
    if len(truth) < 2:
        return math.nan
    if np.ptp(truth) == 0:
        return float(np.array_equal(truth, values))
    unit = _unit_of(truth)
    return 1 - _mean_square((truth - values) / unit) / _mean_square((truth - np.mean(truth)) / unit)


def spearman(truth: Array, values: Array) -> float:
    """Return the correlation of ranks; 0 when all predictions are equal."""
    true_ranks, ranks = _ranks(truth), _ranks(values)
    true_ranks, ranks = true_ranks - true_ranks.mean(), ranks - ranks.mean()
    if not true_ranks.any():
        return math.nan
    if not ranks.any():
        return 0.0
    return float(true_ranks @ ranks / math.sqrt((true_ranks @ true_ranks) * (ranks @ ranks)))


METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", "accuracy", CLASSIFICATION, "labels", accuracy),
    "balanced_accuracy": Metric("balanced_accuracy", "balanced accuracy", CLASSIFICATION, "labels", balanced_accuracy),
    "kappa": Metric("kappa", "kappa", CLASSIFICATION, "labels", kappa),
    "f1": Metric("f1", "F1", ("binary",), "labels", f1),
    "f1_macro": Metric("f1_macro", "F1 (macro)", CLASSIFICATION, "labels", f1_macro),
    "roc_auc": Metric("roc_auc", "ROC AUC", CLASSIFICATION, "probabilities", roc_auc),
    "neg_log_loss": Metric("neg_log_loss", "log loss", CLASSIFICATION, "probabilities", neg_log_loss, is_loss=True),
    "neg_brier": Metric("neg_brier", "Brier score", CLASSIFICATION, "probabilities", neg_brier, is_loss=True),
    "neg_rmse": Metric("neg_rmse", "RMSE", ("regression",), "values", neg_rmse, is_loss=True),
    "neg_mae": Metric("neg_mae", "MAE", ("regression",), "values", neg_mae, is_loss=True),
    "r2": Metric("r2", "R²", ("regression",), "values", r2),
    "spearman": Metric("spearman", "Spearman", ("regression",), "values", spearman),
}

DEFAULT_METRICS: dict[Task, str] = {"binary": "roc_auc", "multiclass": "neg_log_loss", "regression": "neg_rmse"}


def metric(name: str) -> Metric:
    """Return a metric by name; losses may be named without their sign.

    >>> metric("log_loss").name
    'neg_log_loss'
    """
    for candidate in (name, f"neg_{name}"):
        if candidate in METRICS:
            return METRICS[candidate]
    raise BadRequest(f"There is no metric {name!r}. Choose one of: {', '.join(METRICS)}.")


def default_metric(task: Task) -> str:
    """Return the name of the metric that a task is judged by unless another is asked for."""
    return DEFAULT_METRICS[task]


def display(name: str, value: float) -> tuple[str, float]:
    """Return the label and the value people know: a loss is shown positive.

    >>> display("neg_log_loss", -0.31)
    ('log loss', 0.31)
    """
    found = metric(name)
    return found.label, -value + 0.0 if found.is_loss else value


def all_scores(task: Task, truth: Array, prediction: Array, *, y: Array | None = None) -> dict[str, float]:
    """Return every metric of a task: `prediction` holds class probabilities, or values for regression.

    `y` is the target of all rows where these are a part of them, such as a fold: it decides what F1 looks at.
    """
    prediction = np.asarray(prediction, dtype=np.float64)
    inputs: dict[str, Array] = {"values": prediction}
    if task != "regression":
        inputs = {"probabilities": prediction, "labels": np.argmax(prediction, axis=1)}
    # Predictions near the largest float overflow when squared; such a score is bad, and must stay valid JSON.
    with np.errstate(over="ignore"):
        scores = {
            found.name: found.on(truth if y is None else y).function(truth, inputs[found.needs])
            for found in METRICS.values()
            if task in found.tasks
        }
    return {name: max(-LARGEST_SCORE, value) if value == value else value for name, value in scores.items()}


def confusion(truth: Array, labels: Array) -> Floats:
    """Return how often each class (row) was labelled as each class (column)."""
    size = int(max(truth.max(), labels.max())) + 1
    counts = np.bincount(truth.astype(np.int64) * size + labels.astype(np.int64), minlength=size * size)
    return counts.reshape(size, size).astype(np.float64)


def _area(is_positive: npt.NDArray[np.bool_], scores: Array) -> float:
    n_positive = int(is_positive.sum())
    n_negative = len(is_positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return math.nan
    rank_sum = float(_ranks(scores)[is_positive].sum())
    return (rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def _ranks(values: Array) -> Floats:
    """Return ranks from 1, equal values sharing their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)


def _unit_rows(probabilities: Array) -> Floats:
    """Return rows that sum to one; a row without any mass becomes uniform."""
    total = probabilities.sum(axis=1, keepdims=True)
    uniform = np.full_like(probabilities, 1 / probabilities.shape[1])
    np.divide(probabilities, total, out=uniform, where=total > 0)
    return uniform


def _unit_of(truth: Array) -> float:
    """Return 1, or the size of targets whose squares leave the range of floats."""
    size = float(np.abs(truth).max(initial=0.0))
    return 1.0 if size == 0 or 1e-140 < size < 1e140 else size


def _mean_square(errors: Array) -> float:
    return float(np.mean(np.square(errors)))
