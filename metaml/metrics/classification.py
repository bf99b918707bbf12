"""Metrics of classification: of predicted labels, or of the probabilities of all classes.

Probabilities have one column per class code, also for classes that a training fold lacked. `weight` is that of each
row, None if all count the same; a row of weight 2 counts as two rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Array, Flags, Floats
from metaml.metrics import batched, from_counts
from metaml.metrics.base import LEAST_PROBABILITY, Metric, Weight, mean_over_rows, rarer_class
from metaml.metrics.ranks import ranks

if TYPE_CHECKING:
    from metaml.data import Task


def accuracy(truth: Array, labels: Array, weight: Weight = None) -> float:
    """Return the share of labels that are right."""
    return mean_over_rows(truth == labels, weight)


def balanced_accuracy(truth: Array, labels: Array, weight: Weight = None) -> float:
    """Return the mean recall over the classes present."""
    table = confusion(truth, labels, weight)
    present = table.sum(axis=1) > 0
    return float(np.mean(np.diag(table)[present] / table.sum(axis=1)[present]))


def kappa(truth: Array, labels: Array, weight: Weight = None) -> float:
    """Return the agreement beyond chance (Cohen 1960)."""
    table = confusion(truth, labels, weight)
    table = table / (len(truth) if weight is None else table.sum())
    by_chance = float(table.sum(axis=0) @ table.sum(axis=1))
    return (float(np.trace(table)) - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan


def f1(truth: Array, labels: Array, weight: Weight = None, *, positive: int | None = None) -> float:
    """Return the F1 of one of two classes, by default of the one with fewer rows, usually the one of interest.

    >>> f1(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])).__round__(3)
    0.667
    """
    positive = rarer_class(truth) if positive is None else positive
    unit = np.ones(len(truth)) if weight is None else weight
    hits = float(np.sum(unit[(truth == positive) & (labels == positive)]))
    named = float(np.sum(unit[truth == positive]) + np.sum(unit[labels == positive]))
    return 2 * hits / named if named else math.nan


def f1_macro(truth: Array, labels: Array, weight: Weight = None) -> float:
    """Return the mean F1 over the classes that are present or predicted."""
    table = confusion(truth, labels, weight)
    total = table.sum(axis=0) + table.sum(axis=1)
    return float(np.mean(2 * np.diag(table)[total > 0] / total[total > 0]))


def mcc(truth: Array, labels: Array, weight: Weight = None) -> float:
    """Return Matthews' correlation of truth and labels (Gorodkin 2004 for several classes); 0 if all labels are equal.

    >>> mcc(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])).__round__(3)
    0.577
    """
    return float(from_counts.mcc(confusion(truth, labels, weight)))


def weighted_kappa(truth: Array, labels: Array, weight: Weight = None) -> float:
    """Return the agreement of ordered classes beyond chance, an error counting by its square (Cohen 1968)."""
    return float(from_counts.weighted_kappa(confusion(truth, labels, weight)))


def average_precision(truth: Array, probabilities: Array, weight: Weight = None) -> float:
    """Return the area under the steps of precision over recall for the second of two classes, as scikit-learn does.

    With more than two classes it is the mean over the classes present.
    """
    if probabilities.shape[1] == 2:
        return _steps(truth == 1, probabilities[:, 1], weight)
    return float(np.mean([_steps(truth == code, probabilities[:, code], weight) for code in np.unique(truth)]))


def roc_auc(truth: Array, probabilities: Array, weight: Weight = None) -> float:
    """Return the area under the ROC curve; with more than two classes, each against the rest, averaged.

    Computed as a rank sum (Hanley and McNeil 1982), so ties count half.
    """
    codes = [1] if probabilities.shape[1] == 2 else np.unique(truth).tolist()
    if weight is not None:
        return batched.weighted_area(truth, probabilities, weight, codes)
    return float(np.mean([_area(truth == code, probabilities[:, code]) for code in codes]))


def neg_log_loss(truth: Array, probabilities: Array, weight: Weight = None) -> float:
    """Return the mean log probability of the true class, no probability being below 10⁻¹⁵."""
    return mean_over_rows(_logs_of_truth(truth, probabilities), weight)


def neg_brier(truth: Array, probabilities: Array, weight: Weight = None) -> float:
    """Return the negative Brier score: in [-1, 0] for two classes, else summed over classes in [-2, 0]."""
    return -mean_over_rows(_squares(truth, probabilities), weight)


def neg_log_loss_by_class(truth: Array, probabilities: Array, weight: Weight = None) -> float:
    """Return the mean over classes of the mean log probability of their rows, so that every class counts the same."""
    return _mean_by_class(truth, _logs_of_truth(truth, probabilities), weight)


def neg_brier_by_class(truth: Array, probabilities: Array, weight: Weight = None) -> float:
    """Return the mean over classes of the negative Brier scores of their rows."""
    return _mean_by_class(truth, -_squares(truth, probabilities), weight)


def _logs_of_truth(truth: Array, probabilities: Array) -> Floats:
    of_truth = _unit_rows(probabilities)[np.arange(len(truth)), truth]
    return np.asarray(np.log(np.clip(of_truth, LEAST_PROBABILITY, 1.0)))


def _squares(truth: Array, probabilities: Array) -> Floats:
    errors = _unit_rows(probabilities).copy()
    errors[np.arange(len(truth)), truth] -= 1
    return np.asarray(errors[:, 1] ** 2 if errors.shape[1] == 2 else (errors**2).sum(axis=1))


def _mean_by_class(truth: Array, values: Array, weight: Weight) -> float:
    parts = [truth == code for code in np.unique(truth)]
    return float(np.mean([mean_over_rows(values[part], None if weight is None else weight[part]) for part in parts]))


def _steps(is_positive: Flags, scores: Array, weight: Weight) -> float:
    """Return the average precision of scores; rows of equal score are taken together."""
    unit = np.ones(len(scores)) if weight is None else weight
    if not unit[is_positive].any():
        return math.nan
    order = np.argsort(-scores, kind="stable")
    is_last = np.append(np.diff(scores[order]) != 0, True)
    hits = np.cumsum(np.where(is_positive[order], unit[order], 0.0))[is_last]
    named = np.cumsum(unit[order])[is_last]
    precision = hits / np.where(named > 0, named, 1.0)
    return float(np.sum(np.diff(hits, prepend=0) * precision) / hits[-1])


def confusion(truth: Array, labels: Array, weight: Weight = None) -> Floats:
    """Return how often each class (row) was labelled as each class (column), or the weight of these rows."""
    size = int(max(truth.max(), labels.max())) + 1
    counts = np.bincount(truth.astype(np.int64) * size + labels.astype(np.int64), weight, minlength=size * size)
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
