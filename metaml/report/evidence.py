"""What a score rests on: rows trained and tested, the spread over folds, curves, thresholds and coverage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Array, Floats
from metaml.ensemble.conformal import cross_bounds, parts_of, rank_for
from metaml.metrics.base import Weight, mean_over_rows
from metaml.report.data import CalibrationBin

MOST_POINTS = 120
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LEVELS = (0.5, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Curve:
    """ROC and precision-recall points of one class against the others, with the areas below."""

    label: str
    roc: Sequence[tuple[float, float]]
    precision_recall: Sequence[tuple[float, float]]
    auc: float
    average_precision: float
    share: float


@dataclass(frozen=True)
class ThresholdRow:
    """What follows if the second class is predicted from this probability on."""

    threshold: float
    share: float
    precision: float
    recall: float
    accuracy: float


@dataclass(frozen=True)
class CoverageRow:
    """How often intervals or sets held the truth of other rows; `width` is their mean width, or size."""

    asked: float
    held: float
    width: float


@dataclass(frozen=True)
class CostRow:
    """What a row costs in the mean, out of fold, if decisions are made in one way.

    `threshold` is the probability of the second of two classes from which it is predicted; None for more classes.
    """

    way: str
    threshold: float | None
    cost: float


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a score rests on.

    A model of a fold was trained on `n_trained` rows in the mean; `n_tested` were tested. `fold_scores` are those of
    the final model, `error` is the standard error of their mean (by bootstrap if there is one fold), `gain_error`
    that of the gain over the best default; None if unknown. Where folds follow one another in time, `later_error` is by
    how much the score of a later fold may differ from their mean. `uncalibrated` are reliability bins before the
    calibration by `method`, which lowered the log loss by `calibration_gain`. `costs` are those of several ways to
    decide, if the search was judged by costs.
    """

    n_trained: int
    n_tested: int
    fold_scores: Sequence[float] = ()
    error: float | None = None
    gain_error: float | None = None
    later_error: float | None = None
    curves: Sequence[Curve] = ()
    thresholds: Sequence[ThresholdRow] = ()
    coverage: Sequence[CoverageRow] = ()
    uncalibrated: Sequence[CalibrationBin] = ()
    method: str = ""
    calibration_gain: tuple[float, float] | None = None
    costs: Sequence[CostRow] = ()


def curve_of(truth: Array, chances: Array, label: str, weight: Weight = None) -> Curve:
    """Return the curves of one class: `truth` says which rows are of it, `chances` its probability.

    `weight` is that of each row, None if all count the same.
    """
    order = np.argsort(-chances, kind="stable")
    unit = np.ones(len(order)) if weight is None else weight[order]
    hits, values = unit * np.asarray(truth, dtype=np.float64)[order], chances[order]
    last = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    right, taken = hits.cumsum()[last], unit.cumsum()[last]
    least = unit.min(initial=1.0)
    positives, negatives = max(hits.sum(), least), max(unit.sum() - hits.sum(), least)
    recall, false = np.append(0.0, right / positives), np.append(0.0, (taken - right) / negatives)
    precision = np.append(right[0] / taken[0], right / taken)
    auc = float(np.sum(np.diff(false) * (recall[1:] + recall[:-1]) / 2))
    average = float(np.sum(np.diff(recall) * precision[1:]))
    rows = np.unique(np.linspace(0, len(recall) - 1, MOST_POINTS).astype(np.int64))
    roc = [(float(false[row]), float(recall[row])) for row in rows]
    found = [(float(recall[row]), float(precision[row])) for row in rows]
    return Curve(label, roc, found, auc, average, float(hits.sum() / unit.sum()))


def threshold_rows(truth: Array, chances: Array, own: float | None, weight: Weight = None) -> list[ThresholdRow]:
    """Return what thresholds on the probability of the second class lead to; `own` is the model's."""
    unit = np.ones(len(truth)) if weight is None else weight
    rows = []
    for threshold in sorted({*THRESHOLDS, *([] if own is None else [own])}):
        taken = chances >= threshold
        right = float(unit[taken & truth].sum())
        precision = right / float(unit[taken].sum()) if taken.any() else float("nan")
        recall = right / float(unit[truth].sum()) if truth.any() else float("nan")
        share, accuracy = mean_over_rows(taken, weight), mean_over_rows(taken == truth, weight)
        rows.append(ThresholdRow(threshold, share, precision, recall, accuracy))
    return rows


def interval_coverage(errors: Floats, units: Floats, folds: Array) -> list[CoverageRow]:
    """Return how often intervals hold the truth: those of a fold are made from the errors of the others."""
    rows, parts = [], parts_of(folds)
    for level in LEVELS:
        if _is_possible(level, parts):
            bounds = cross_bounds(errors / units, parts, level) * units
            rows.append(CoverageRow(level, float(np.mean(errors <= bounds)), float(2 * bounds.mean())))
    return rows


def set_coverage(probabilities: Floats, truth: Array, folds: Array) -> list[CoverageRow]:
    """Return how often sets of labels hold the truth, in the same way; the most probable label is always in."""
    rows, parts = [], parts_of(folds)
    errors = 1 - probabilities[np.arange(len(truth)), truth]
    for level in LEVELS:
        if _is_possible(level, parts):
            inside = 1 - probabilities <= cross_bounds(errors, parts, level)[:, None]
            inside[np.arange(len(truth)), probabilities.argmax(axis=1)] = True
            held = inside[np.arange(len(truth)), truth].mean()
            rows.append(CoverageRow(level, float(held), float(inside.sum(axis=1).mean())))
    return rows


def _is_possible(level: float, parts: Array) -> bool:
    fewest = len(parts) - np.bincount(parts).max()
    return bool(fewest > 0 and level * (fewest + 1) <= fewest and rank_for(level, int(fewest)) <= fewest)
