"""A row of weight 2 counts as two rows: in selection, scores, thresholds and calibration."""

import numpy as np
import pytest

from metaml.ensemble.calibration import calibrate
from metaml.ensemble.selection import fold_scores, score, select
from metaml.ensemble.threshold_scores import judge, lines_between
from metaml.ensemble.thresholds import tune_multipliers
from metaml.metrics import METRICS

N = 1200
FOLDS = np.arange(N) % 5


def problem(task, seed=0):
    """Return truth and out-of-fold predictions, which are good on heavy rows or on light ones."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, N).astype(np.float64)
    if task == "regression":
        truth = rng.normal(size=N)
        return truth, [truth + (0.5 + k * (weights > 1)) * rng.normal(size=N) for k in range(4)], weights
    truth = (rng.random(N) < 0.3).astype(np.int64)
    strengths = [np.where(weights > 1, 0.5 + k, 2.5 - 0.5 * k) for k in range(4)]
    raw = [np.exp(s[:, None] * np.eye(2)[truth] + rng.gumbel(size=(N, 2)) + [0.7, 0.0]) for s in strengths]
    return truth, [item / item.sum(axis=1, keepdims=True) for item in raw], weights


def doubled(values, weights):
    return np.repeat(values, weights.astype(int), axis=0)


@pytest.mark.parametrize("name", ["roc_auc", "neg_log_loss", "f1", "balanced_accuracy", "neg_rmse", "neg_mae"])
def test_selection_and_scores_are_those_of_the_doubled_rows(name):
    truth, predictions, weights = problem(METRICS[name].tasks[0])
    often = [doubled(item, weights) for item in predictions]

    weighed = select(predictions, truth, name, folds=FOLDS, row_weights=weights)
    counted = select(often, doubled(truth, weights), name, folds=doubled(FOLDS, weights))

    assert weighed == pytest.approx(counted)
    again = score(often[0], doubled(truth, weights), name, folds=doubled(FOLDS, weights))
    assert score(predictions[0], truth, name, folds=FOLDS, row_weights=weights) == pytest.approx(again)
    assert fold_scores(predictions[0], truth, name, FOLDS, weights).mean() == pytest.approx(again)
    assert score(predictions[0], truth, name, folds=FOLDS) != pytest.approx(again)


def test_thresholds_are_those_of_the_doubled_rows():
    truth, predictions, weights = problem("binary")

    weighed = tune_multipliers(predictions[0], truth, "f1", row_weights=weights)
    counted = tune_multipliers(doubled(predictions[0], weights), doubled(truth, weights), "f1")

    assert weighed == pytest.approx(counted)
    assert lines_between(predictions[0], truth, FOLDS, weights).tables.sum() == pytest.approx(
        weights.sum() * len(lines_between(predictions[0], truth, FOLDS, weights).logs)
    )


def test_few_rows_are_few_however_heavy_they_are():
    truth, predictions, _ = problem("binary")
    rows = np.flatnonzero(truth == 0)[:200].tolist() + np.flatnonzero(truth == 1)[:50].tolist()
    few = predictions[0][rows], truth[rows], np.arange(250) % 5

    assert judge(*few, "f1", row_weights=np.full(250, 1000.0)) == pytest.approx(judge(*few, "f1"))


def test_calibration_is_fitted_to_the_doubled_rows():
    truth, predictions, weights = problem("binary")
    sure = predictions[3] ** 4 / (predictions[3] ** 4).sum(axis=1, keepdims=True)

    weighed = calibrate(sure, truth, FOLDS, "neg_log_loss", weights).calibration
    counted = calibrate(
        doubled(sure, weights), doubled(truth, weights), doubled(FOLDS, weights), "neg_log_loss"
    ).calibration

    assert weighed.method == counted.method
    assert weighed(sure) == pytest.approx(counted(sure), abs=2e-3)


def test_a_permutation_of_rows_changes_nothing():
    truth, predictions, weights = problem("binary")
    order = np.random.default_rng(1).permutation(N)

    here = select(predictions, truth, "roc_auc", folds=FOLDS, row_weights=weights)
    there = select(
        [item[order] for item in predictions], truth[order], "roc_auc", folds=FOLDS[order], row_weights=weights[order]
    )

    assert here == pytest.approx(there)
