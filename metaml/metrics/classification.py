"""Metrics of classification: of predicted labels, or of the probabilities of all classes.

Probabilities have one column per class code, also for classes that a training fold lacked.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Array, Flags, Floats
from metaml.metrics import batched, from_counts
from metaml.metrics.base import LEAST_PROBABILITY, Metric, rarer_class
from metaml.metrics.ranks import ranks

if TYPE_CHECKING:
    from metaml.data import Task


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


def f1_macro(truth: Array, labels: Array) -> float:
    """Return the mean F1 over the classes that are present or predicted."""
    table = confusion(truth, labels)
    total = table.sum(axis=0) + table.sum(axis=1)
    return float(np.mean(2 * np.diag(table)[total > 0] / total[total > 0]))


def mcc(truth: Array, labels: Array) -> float:
    """Return Matthews' correlation of truth and labels (Gorodkin 2004 for several classes); 0 if all labels are equal.

    >>> mcc(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])).__round__(3)
    0.577
    """
    return float(from_counts.mcc(confusion(truth, labels)))


def weighted_kappa(truth: Array, labels: Array) -> float:
    """Return the agreement of ordered classes beyond chance, an error counting by its square (Cohen 1968)."""
    return float(from_counts.weighted_kappa(confusion(truth, labels)))


def average_precision(truth: Array, probabilities: Array) -> float:
    """Return the area under the steps of precision over recall for the second of two classes, as scikit-learn does.

    With more than two classes it is the mean over the classes present.
    """
    if probabilities.shape[1] == 2:
        return _steps(truth == 1, probabilities[:, 1])
    return float(np.mean([_steps(truth == code, probabilities[:, code]) for code in np.unique(truth)]))


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


def neg_log_loss_by_class(truth: Array, probabilities: Array) -> float:
    """Return the mean over classes of the mean log probability of their rows, so that every class counts the same."""
    of_truth = _unit_rows(probabilities)[np.arange(len(truth)), truth]
    return _mean_by_class(truth, np.log(np.clip(of_truth, LEAST_PROBABILITY, 1.0)))


def neg_brier_by_class(truth: Array, probabilities: Array) -> float:
    """Return the mean over classes of the negative Brier scores of their rows."""
    errors = _unit_rows(probabilities).copy()
    errors[np.arange(len(truth)), truth] -= 1
    squares = errors[:, 1] ** 2 if errors.shape[1] == 2 else (errors**2).sum(axis=1)
    return _mean_by_class(truth, -squares)


def _mean_by_class(truth: Array, values: Array) -> float:
    return float(np.mean([values[truth == code].mean() for code in np.unique(truth)]))


def _steps(is_positive: Flags, scores: Array) -> float:
    """Return the average precision of scores; rows of equal score are taken together."""
    n_positive = int(is_positive.sum())
    if n_positive == 0:
        return math.nan
    order = np.argsort(-scores, kind="stable")
    is_last = np.append(np.diff(scores[order]) != 0, True)
    hits = np.cumsum(is_positive[order])[is_last]
    precision = hits / (np.flatnonzero(is_last) + 1)
    return float(np.sum(np.diff(hits, prepend=0) * precision) / n_positive)


def confusion(truth: Array, labels: Array) -> Floats:
    """Return how often each class (row) was labelled as each class (column)."""
    size = int(max(truth.max(), labels.max())) + 1
    counts = np.bincount(truth.astype(np.int64) * size + labels.astype(np.int64), minlength=size * size)
    return counts.reshape(size, size).astype(np.float64)


def _area(is_positive: Flags, scores: Array) -> float:
    n_positive = int(is_positive.sum())
    n_negative = len(is_positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return math.nan
    rank_sum = float(ranks(scores)[is_positive].sum())
    return (rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def _unit_rows(probabilities: Array) -> Floats:
    """Return rows that sum to one; a row without any mass becomes uniform."""
    total = probabilities.sum(axis=1, keepdims=True)
    uniform = np.full_like(probabilities, 1 / probabilities.shape[1])
    np.divide(probabilities, total, out=uniform, where=total > 0)
    return uniform


BINARY: tuple[Task, ...] = ("binary",)
ALL: tuple[Task, ...] = ("binary", "multiclass")

METRICS = (
    Metric(
        name="accuracy",
        label="accuracy",
        tasks=ALL,
        needs="labels",
        function=accuracy,
        from_counts=from_counts.accuracy,
        openml_name="predictive_accuracy",
        openml_tasks=ALL,
    ),
    Metric(
        name="balanced_accuracy",
        label="balanced accuracy",
        tasks=ALL,
        needs="labels",
        function=balanced_accuracy,
        from_counts=from_counts.balanced_accuracy,
        accuracy_stands_in=True,
    ),
    Metric(
        name="kappa",
        label="kappa",
        tasks=ALL,
        needs="labels",
        function=kappa,
        from_counts=from_counts.kappa,
        accuracy_stands_in=True,
        openml_name="kappa",
        openml_tasks=ALL,
    ),
    Metric(
        name="f1",
        label="F1",
        tasks=BINARY,
        needs="labels",
        function=f1,
        from_counts=from_counts.f1,
        has_positive_class=True,
    ),
    Metric(
        name="f1_macro",
        label="F1 (macro)",
        tasks=ALL,
        needs="labels",
        function=f1_macro,
        from_counts=from_counts.f1_macro,
        accuracy_stands_in=True,
    ),
    Metric(
        name="mcc",
        label="MCC",
        tasks=ALL,
        needs="labels",
        function=mcc,
        from_counts=from_counts.mcc,
        accuracy_stands_in=True,
    ),
    Metric(
        name="weighted_kappa",
        label="weighted kappa",
        tasks=ALL,
        needs="labels",
        function=weighted_kappa,
        from_counts=from_counts.weighted_kappa,
        accuracy_stands_in=True,
    ),
    Metric(
        name="average_precision",
        label="average precision",
        tasks=ALL,
        needs="probabilities",
        function=average_precision,
        accuracy_stands_in=True,
    ),
    Metric(
        name="neg_log_loss_by_class",
        label="log loss by class",
        tasks=ALL,
        needs="probabilities",
        function=neg_log_loss_by_class,
        is_loss=True,
        is_about_probabilities=True,
        accuracy_stands_in=True,
    ),
    Metric(
        name="neg_brier_by_class",
        label="Brier score by class",
        tasks=ALL,
        needs="probabilities",
        function=neg_brier_by_class,
        is_loss=True,
        is_about_probabilities=True,
        accuracy_stands_in=True,
    ),
    Metric(
        name="roc_auc",
        label="ROC AUC",
        tasks=ALL,
        needs="probabilities",
        function=roc_auc,
        batched=batched.roc_auc,
        accuracy_stands_in=True,
        openml_name="area_under_roc_curve",
        # OpenML weighs the AUC and the F of each class by its size, so with many classes they are not ours.
        openml_tasks=BINARY,
    ),
    Metric(
        name="neg_log_loss",
        label="log loss",
        tasks=ALL,
        needs="probabilities",
        function=neg_log_loss,
        batched=batched.neg_log_loss,
        is_loss=True,
        is_about_probabilities=True,
        accuracy_stands_in=True,
    ),
    Metric(
        name="neg_brier",
        label="Brier score",
        tasks=ALL,
        needs="probabilities",
        function=neg_brier,
        batched=batched.neg_brier,
        is_loss=True,
        is_about_probabilities=True,
        accuracy_stands_in=True,
    ),
)
