"""From out-of-fold predictions to what a report says its score rests on."""

import math
from collections.abc import Callable

import numpy as np

from metaml.arrays import Array, Floats
from metaml.data import Dataset
from metaml.ensemble.selection import fold_scores
from metaml.ensemble.thresholds import decide
from metaml.metrics import metric
from metaml.report import calibration_bins
from metaml.report.evidence import CostRow, Curve, Evidence, curve_of, interval_coverage, set_coverage, threshold_rows
from metaml.tuning.finished import Finished
from metaml.tuning.trials import Found

N_RESAMPLES = 100
MOST_CLASSES = 6


def evidence_of(dataset: Dataset, found: Found, finished: Finished) -> Evidence | None:
    """Return what the score of the final model rests on; None if nothing was tested."""
    if finished.predictions is None:
        return None
    predicted = np.asarray(finished.predictions, dtype=np.float64)
    rows = np.flatnonzero(np.isfinite(predicted).reshape(len(predicted), -1).all(axis=1))
    plan = found.judging_plan
    folds = plan.assignment.astype(np.float64)
    scores = fold_scores(predicted, dataset.y, found.metric, folds, dataset.row_weights)
    error = _error(scores, lambda part: _plain(predicted[part], dataset, part, found.metric), rows)
    truth, tested_in, weight = dataset.y[rows], plan.assignment[rows], dataset.weights_of(rows)
    curves: list[Curve] = []
    thresholds, uncalibrated = [], []
    if dataset.labels is None:
        units = np.ones(len(rows)) if finished.units is None else finished.units
        coverage = interval_coverage(np.abs(truth - predicted[rows].ravel()), units, tested_in)
    else:
        chances = predicted[rows]
        names = [str(label) for label in dataset.labels]
        common = np.argsort(-np.bincount(truth, minlength=len(names)), kind="stable")[:MOST_CLASSES]
        shown = [1] if len(names) == 2 else sorted(common.tolist())
        curves = [curve_of(truth == code, chances[:, code], names[code], weight) for code in shown]
        if len(names) == 2:
            factors = finished.model.multipliers
            own = 0.5 if factors is None else factors[0] / (factors[0] + factors[1])
            thresholds = threshold_rows(truth == 1, chances[:, 1], own, weight)
        coverage = set_coverage(chances, truth, tested_in)
        if finished.calibrated is not None and finished.uncalibrated is not None:
            uncalibrated = calibration_bins(truth, finished.uncalibrated[rows], row_weights=weight)
    known = finished.calibrated
    return Evidence(
        n_trained=round(plan.n_trained),
        n_tested=len(rows),
        fold_scores=[float(score) for score in scores],
        error=error,
        gain_error=_gain_error(dataset, found, finished, scores, rows),
        later_error=later_error(scores) if plan.is_forward else None,
        curves=curves,
        thresholds=thresholds,
        coverage=coverage,
        uncalibrated=uncalibrated,
        method="" if known is None else known.calibration.method,
        costs=_costs(dataset, found, finished, rows),
        calibration_gain=None if known is None else (known.gain, known.error),
    )


def _costs(dataset: Dataset, found: Found, finished: Finished, rows: Array) -> list[CostRow]:
    """Return what decisions cost at the largest probability, at the theoretical thresholds and at those of the model.

    Coors (2018), table 9.
    """
    judge = metric(found.metric)
    if judge.factors is None or finished.predictions is None:
        return []
    chances, equal = np.asarray(finished.predictions, dtype=np.float64)[rows], np.ones(len(judge.factors))
    own = finished.model.multipliers
    ways = {
        "largest probability": equal,
        "theoretical": np.array(judge.factors),
        "of the model": equal if own is None else np.array(own),
    }
    return [
        CostRow(
            way,
            float(factors[0] / factors.sum()) if len(factors) == 2 else None,
            -judge.function(dataset.y[rows], decide(chances, factors), dataset.weights_of(rows)),
        )
        for way, factors in ways.items()
    ]


def _gain_error(dataset: Dataset, found: Found, finished: Finished, scores: Floats, rows: Array) -> float | None:
    """Return the standard error of the gain over the best default, paired by fold or by resampled rows."""
    if found.repeated:
        return None
    defaults = [t for t in found.ranked if t.run.origin == "default" and t.outcome.predictions is not None]
    if not defaults or finished.predictions is None:
        return None
    other = np.asarray(defaults[0].outcome.predictions, dtype=np.float64)
    folds = found.plan.assignment.astype(np.float64)
    others = fold_scores(other, dataset.y, found.metric, folds, dataset.row_weights)
    own = np.asarray(finished.predictions, dtype=np.float64)
    if len(others) != len(scores):
        return None

    def gain(part: Array) -> float:
        return _plain(own[part], dataset, part, found.metric) - _plain(other[part], dataset, part, found.metric)

    return _error(scores - others, gain, rows)


def later_error(scores: Floats) -> float | None:
    """Return the deviation of the score of one more fold from the mean of these; None for fewer than two.

    Folds in time differ because times do, and what is to come is another time: its score varies as theirs do, however
    sure their mean is. With n folds of standard deviation s it is s * sqrt(1 + 1/n), which predicts a new value.

    >>> round(later_error(np.array([0.8, 0.9, 0.7, 0.8])), 4)
    0.0913
    """
    defined = scores[np.isfinite(scores)]
    if len(defined) < 2:
        return None
    with np.errstate(over="ignore"):
        return float(defined.std(ddof=1) * math.sqrt(1 + 1 / len(defined)))


def _error(values: Floats, resampled: Callable[[Array], float], rows: Array) -> float | None:
    """Return the standard error of a mean over folds; of one fold, by bootstrap over its rows."""
    defined = values[np.isfinite(values)]
    if len(defined) > 1:
        with np.errstate(over="ignore"):
            return float(defined.std(ddof=1) / math.sqrt(len(defined)))
    rng = np.random.default_rng(0)
    drawn = np.array([resampled(rng.choice(rows, len(rows))) for _ in range(N_RESAMPLES)])
    drawn = drawn[np.isfinite(drawn)]
    return float(drawn.std(ddof=1)) if len(drawn) > 1 else None


def _plain(predicted: Floats, dataset: Dataset, part: Array, name: str) -> float:
    """Return the score of some rows at the plain threshold."""
    found = metric(name).on(dataset.y)
    return float(found.function(dataset.y[part], found.asked(predicted), dataset.weights_of(part)))
