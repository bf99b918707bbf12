"""Calibration: probabilities that come true as often as they say, learnt from out-of-fold predictions.

Three methods, from simple to flexible: temperature (Guo et al. 2017), Platt scaling (Platt 1999; with several classes a
slope for all and an offset for each, Alexandari et al. 2020) and isotonic regression (Zadrozny & Elkan 2002; centred,
so that it keeps the order of the rows, Oron & Flournoy 2017). One is used only if it lowers the log loss of rows it was
not fitted on by more than a standard error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaml.arrays import Array, Floats
from metaml.ensemble.selection import score
from metaml.metrics.base import Weight, error_of_mean, mean_over_rows, some
from metaml.splits.shuffled import plan_folds
from metaml.system.threads import at_most_threads

METHODS = ("temperature", "platt", "isotonic")
FEWEST_ROWS, FEWEST_ISOTONIC = 60, 1000
"""Rows below which calibration, or the most flexible method, fits noise."""
MOST_CELLS = 400_000
"""Rows × classes that a method is fitted to: more make it slower and hardly better."""
N_PARTS = 5
LEAST, SMALLEST_SLOPE, LARGEST_SLOPE = 1e-9, 0.05, 20.0
SHRINKAGE = 1e-3
"""Ridge penalty on offsets, which a class that was never predicted would send to infinity."""


@dataclass(frozen=True)
class Calibration:
    """A map from probabilities to better ones.

    `slope` and `offsets` (one per class) act on the logarithms: softmax(slope · log p + offset). With `knots`, pairs of
    x and y for each class, or for the second of two, the map is piecewise linear instead.
    """

    method: str
    slope: float = 1.0
    offsets: tuple[float, ...] = ()
    knots: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"there is no calibration {self.method!r}")
        numbers = np.array([self.slope, *self.offsets, *(v for pair in self.knots for axis in pair for v in axis)])
        if not np.isfinite(numbers).all() or not self.slope > 0:
            raise ValueError("a calibration needs finite numbers and a slope above 0")
        if any(len(x) != len(y) or len(x) < 2 for x, y in self.knots):
            raise ValueError("the knots of a calibration do not fit together")

    def __call__(self, probabilities: Array) -> Floats:
        """Return calibrated probabilities, rows × classes, that sum to 1 in each row; NaN stays NaN."""
        chances = np.asarray(probabilities, dtype=np.float64)
        if not self.knots:
            return _softmax(self.slope * _logs(chances) + np.asarray(self.offsets or 0.0))
        if chances.shape[1] == 2:
            second = _interpolated(chances[:, 1], self.knots[0])
            return np.column_stack([1 - second, second])
        each = np.column_stack([_interpolated(chances[:, k], pair) for k, pair in enumerate(self.knots)])
        return np.asarray(each / each.sum(axis=1, keepdims=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the map as plain JSON values."""
        knots = [[list(x), list(y)] for x, y in self.knots]
        return {"method": self.method, "slope": self.slope, "offsets": list(self.offsets), "knots": knots}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], n_classes: int) -> Calibration:
        """Return the map that `to_dict` described; raise ValueError if it is none for so many classes."""
        offsets = tuple(float(value) for value in plain["offsets"])
        knots = tuple((tuple(map(float, x)), tuple(map(float, y))) for x, y in plain["knots"])
        if len(offsets) not in (0, n_classes) or len(knots) not in (0, 1 if n_classes == 2 else n_classes):
            raise ValueError("the calibration is for another number of classes")
        return cls(str(plain["method"]), float(plain["slope"]), offsets, knots)


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A calibration that helps, what it makes of rows it was not fitted on, and by how much it lowers their log loss.

    `error` is the standard error of the `gain`. Rows that were not predicted are NaN.
    """

    calibration: Calibration
    predictions: Floats
    gain: float
    error: float


def calibrate(
    probabilities: Array, truth: Array, folds: Array, metric_name: str, row_weights: Weight = None
) -> Calibrated | None:
    """Return the calibration of out-of-fold probabilities that helps by a standard error; None if none does.

    It is judged on rows it was not fitted on: those of a fold are calibrated by the others. A single fold is cut into
    five parts. The score by the metric of the search may not fall. `row_weights` say how much each row counts.
    """
    rows = np.flatnonzero(np.isfinite(probabilities).all(axis=1))
    chances, truth = np.asarray(probabilities, dtype=np.float64)[rows], np.asarray(truth)[rows]
    if len(rows) < FEWEST_ROWS or len(np.unique(truth)) < 2:
        return None
    parts, weight = np.asarray(folds)[rows], some(row_weights, rows)
    if len(np.unique(parts)) == 1:
        parts = plan_folds(len(rows), truth, n_folds=N_PARTS).assignment
    before = _losses(chances, truth)
    plain = score(chances, truth, metric_name, folds=parts, row_weights=weight)
    found: tuple[str, Floats, Floats] | None = None
    # Steps of the optimiser are so small that threads only wait for one another.
    with at_most_threads(1):
        for method in METHODS:
            if method == "isotonic" and len(rows) < FEWEST_ISOTONIC:
                continue
            made = _cross_fitted(chances, truth, weight, parts, method)
            after = _losses(made, truth)
            gains = (before if found is None else found[2]) - after
            helps = mean_over_rows(gains, weight) > error_of_mean(gains, weight)
            if helps and score(made, truth, metric_name, folds=parts, row_weights=weight) >= plain - 1e-12:
                found = method, made, after
        if found is None:
            return None
        method, made, after = found
        calibration = _fit(chances, truth, weight, method)
    whole = np.full(np.shape(probabilities), np.nan)
    whole[rows] = made
    gains = before - after
    return Calibrated(calibration, whole, mean_over_rows(gains, weight), error_of_mean(gains, weight))


def _cross_fitted(chances: Floats, truth: Array, weight: Weight, parts: Array, method: str) -> Floats:
    """Return the probabilities of each part after a calibration that was fitted to the other parts."""
    made = np.empty_like(chances)
    for part in np.unique(parts):
        inside = parts == part
        learnt = _fit(chances[~inside], truth[~inside], some(weight, ~inside), method)
        made[inside] = learnt(chances[inside])
    return made


def _fit(chances: Floats, truth: Array, weight: Weight, method: str) -> Calibration:
    most = max(MOST_CELLS // chances.shape[1], FEWEST_ROWS)
    if len(truth) > most:
        rows = np.random.default_rng(0).choice(len(truth), most, replace=False)
        chances, truth, weight = chances[rows], truth[rows], some(weight, rows)
    if method == "isotonic":
        classes = [1] if chances.shape[1] == 2 else range(chances.shape[1])
        return Calibration(method, knots=tuple(_knots(chances[:, k], truth == k, weight) for k in classes))
    return _scaling(chances, truth, weight, method, has_offsets=method == "platt")


def _scaling(chances: Floats, truth: Array, weight: Weight, method: str, *, has_offsets: bool) -> Calibration:
    """Return slope and offsets that minimise the log loss."""
    from scipy.optimize import minimize

    logs = _logs(chances)
    n_rows, n_classes = logs.shape
    is_true = np.arange(n_classes) == truth[:, None]
    parts = n_rows if weight is None else (weight.sum() / weight)[:, None]

    def loss(values: Floats) -> tuple[float, Floats]:
        slope, offsets = np.exp(values[0]), values[1:] if has_offsets else np.zeros(n_classes)
        made = _softmax(slope * logs + offsets)
        wrong = (made - is_true) / parts
        gradient = np.array([slope * float((wrong * logs).sum()), *wrong.sum(axis=0)])
        value = -mean_over_rows(np.log(np.maximum(made[is_true], LEAST)), weight)
        if not has_offsets:
            return value, gradient[:1]
        gradient[1:] += 2 * SHRINKAGE * offsets
        return value + SHRINKAGE * float(offsets @ offsets), gradient

    bounds = [(np.log(SMALLEST_SLOPE), np.log(LARGEST_SLOPE)), *[(None, None)] * (n_classes if has_offsets else 0)]
    found = minimize(loss, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100})
    offsets = tuple((found.x[1:] - found.x[1:].mean()).tolist()) if has_offsets else ()
    return Calibration(method, float(np.exp(found.x[0])), offsets)


def _knots(chances: Floats, is_class: Array, weight: Weight) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the centres of the blocks of an isotonic regression, and ends that keep probabilities off 0 and 1."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(chances, kind="stable")
    unit = np.ones(len(order)) if weight is None else weight[order]
    steps = isotonic_regression(is_class[order].astype(np.float64), weights=None if weight is None else unit).x
    _, block = np.unique(steps, return_inverse=True)
    sizes = np.bincount(block, unit)
    x, y = np.bincount(block, unit * chances[order]) / sizes, np.bincount(block, unit * steps) / sizes
    edge = 1 / (len(chances) + 2)
    y = np.clip(y, edge, 1 - edge)
    inside = (x > 0) & (x < 1)
    x, y = np.concatenate([[0.0], x[inside], [1.0]]), np.concatenate([[edge / 2], y[inside], [1 - edge / 2]])
    return tuple(x.tolist()), tuple(y.tolist())


def _interpolated(chances: Floats, knots: tuple[Sequence[float], Sequence[float]]) -> Floats:
    return np.asarray(np.interp(chances, *knots))


def _logs(chances: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(chances, LEAST)))


def _softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _losses(chances: Floats, truth: Array) -> Floats:
    """Return the log loss of each row."""
    return np.asarray(-np.log(np.maximum(chances[np.arange(len(truth)), truth], LEAST)))
