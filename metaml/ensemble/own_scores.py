"""Scores by a metric that workers do not know, from the out-of-fold predictions of an evaluation."""

from dataclasses import replace

import numpy as np

from metaml.arrays import Array
from metaml.evaluation.job import Outcome
from metaml.metrics import METRICS, metric
from metaml.metrics.base import Weight, some


def with_own_scores(
    outcome: Outcome, metric_name: str, truth: Array, folds: Array, row_weights: Weight = None
) -> Outcome:
    """Return an outcome with its score on each fold by a metric; itself if it has that, or no predictions.

    Workers score by the metrics that everybody has. Costs and functions of the user's own are computed here, so that no
    function has to travel to another process or machine. `folds` is the fold that tests each row.
    """
    if metric_name in METRICS or metric_name in outcome.scores or outcome.predictions is None or not outcome.folds:
        return outcome
    found = metric(metric_name).on(truth)
    predictions, scores = np.asarray(outcome.predictions, dtype=np.float64), []
    for fold in outcome.folds:
        rows = np.flatnonzero(np.asarray(folds) == fold)
        scores.append(float(found.function(truth[rows], found.asked(predictions[rows]), some(row_weights, rows))))
    return replace(outcome, scores={**outcome.scores, metric_name: tuple(scores)})
