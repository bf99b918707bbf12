"""Scores: every metric of a task at once, higher is better. The metrics themselves are in `metaml.metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metaml.arrays import Array, Floats
from metaml.metrics import DEFAULT_METRICS, METRICS, Metric, default_metric, display, metric
from metaml.metrics.classification import confusion

if TYPE_CHECKING:
    from metaml.data import Task

__all__ = [
    "DEFAULT_METRICS",
    "METRICS",
    "Metric",
    "all_scores",
    "confusion",
    "default_metric",
    "display",
    "metric",
]

LARGEST_SCORE = 1e300


def all_scores(
    task: Task, truth: Array, prediction: Array, *, y: Array | None = None, weight: Floats | None = None
) -> dict[str, float]:
    """Return every metric of a task: `prediction` holds class probabilities, or values for regression.

    `y` is the target of all rows where these are a part of them, such as a fold: it decides what F1 looks at.
    `weight` is that of each row, None if all count the same.
    """
    prediction = np.asarray(prediction, dtype=np.float64)
    inputs: dict[str, Array] = {"values": prediction}
    if task != "regression":
        inputs = {"probabilities": prediction, "labels": np.argmax(prediction, axis=1)}
    # Predictions near the largest float overflow when squared; such a score is bad, and must stay valid JSON.
    with np.errstate(over="ignore"):
        scores = {
            found.name: found.on(truth if y is None else y).function(truth, inputs[found.needs], weight)
            for found in METRICS.values()
            if task in found.tasks
        }
    return {name: max(-LARGEST_SCORE, value) if value == value else value for name, value in scores.items()}
