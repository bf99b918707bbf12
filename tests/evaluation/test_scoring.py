"""Scores of an evaluation: every metric of its task, and the one that counts."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.evaluation.scoring import METRICS, all_scores, default_metric, display, metric

SHARES = {"accuracy", "balanced_accuracy", "kappa", "f1_macro", "roc_auc", "mcc", "weighted_kappa", "average_precision"}
LOSSES = {"neg_log_loss", "neg_brier", "neg_log_loss_by_class", "neg_brier_by_class"}
CLASSIFICATION = SHARES | LOSSES


def test_perfect_predictions_have_the_best_scores():
    truth = np.array([0, 1, 2, 1])

    scores = all_scores("multiclass", truth, np.eye(3)[truth])

    assert scores == dict.fromkeys(SHARES, 1) | dict.fromkeys(LOSSES, 0)


def test_every_metric_belongs_to_its_task():
    assert {name for name, found in METRICS.items() if "multiclass" in found.tasks} == CLASSIFICATION
    assert {name for name, found in METRICS.items() if "binary" in found.tasks} == {*CLASSIFICATION, "f1"}
    assert all(name == found.name for name, found in METRICS.items())


def test_losses_go_by_their_common_names_too():
    assert [metric(name).name for name in ("rmse", "brier", "neg_mae", "r2")] == [
        "neg_rmse",
        "neg_brier",
        "neg_mae",
        "r2",
    ]
    assert display("rmse", -2.5) == ("RMSE", 2.5)
    assert display("roc_auc", 0.9) == ("ROC AUC", 0.9)
    with pytest.raises(BadRequest, match="accuracy, balanced_accuracy"):
        metric("precision")


def test_each_task_has_a_default_metric():
    assert [default_metric(task) for task in ("binary", "multiclass", "regression")] == [
        "roc_auc",
        "neg_log_loss",
        "neg_rmse",
    ]
