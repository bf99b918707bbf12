import math

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn import metrics as reference

from metaml.errors import BadRequest
from metaml.evaluation.scoring import METRICS, all_scores, default_metric, display, metric

CLASSIFICATION = {"accuracy", "balanced_accuracy", "kappa", "f1_macro", "roc_auc", "neg_log_loss", "neg_brier"}


def random_classification(n_classes, seed):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=80)])
    # Few distinct values, so that scores are tied.
    raw = rng.integers(1, 6, size=(len(truth), n_classes)).astype(float)
    return truth, raw / raw.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_classification_scores_equal_those_of_scikit_learn(n_classes, seed):
    truth, probabilities = random_classification(n_classes, seed)
    labels = probabilities.argmax(axis=1)

    scores = all_scores("binary" if n_classes == 2 else "multiclass", truth, probabilities)

    area = (
        reference.roc_auc_score(truth, probabilities[:, 1])
        if n_classes == 2
        else reference.roc_auc_score(truth, probabilities, multi_class="ovr")
    )
    brier = (
        np.mean((probabilities[:, 1] - truth) ** 2)
        if n_classes == 2
        else np.mean(((probabilities - np.eye(n_classes)[truth]) ** 2).sum(axis=1))
    )
    expected = {
        "accuracy": reference.accuracy_score(truth, labels),
        "balanced_accuracy": reference.balanced_accuracy_score(truth, labels),
        "kappa": reference.cohen_kappa_score(truth, labels),
        "f1_macro": reference.f1_score(truth, labels, average="macro"),
        "roc_auc": area,
        "neg_log_loss": -reference.log_loss(truth, probabilities),
        "neg_brier": -brier,
    }
    if n_classes == 2:
        expected["f1"] = reference.f1_score(truth, labels, pos_label=int(np.argmin(np.bincount(truth)[::-1]) == 0))
    assert scores == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_regression_scores_equal_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 20, size=70).astype(float)
    values = truth + rng.integers(-3, 4, size=70)

    scores = all_scores("regression", truth, values)

    expected = {
        "neg_rmse": -reference.root_mean_squared_error(truth, values),
        "neg_mae": -reference.mean_absolute_error(truth, values),
        "r2": reference.r2_score(truth, values),
        "spearman": spearmanr(truth, values).statistic,
    }
    assert scores == pytest.approx(expected, rel=0, abs=1e-12)


def test_f1_of_a_part_looks_at_the_class_that_is_rarer_in_the_whole():
    whole = np.array([0, 0, 0, 0, 1, 1, 1])
    part, chances = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])

    scores = all_scores("binary", part, chances, y=whole)

    assert scores["f1"] == pytest.approx(2 / 3)
    assert {name: value for name, value in scores.items() if name != "f1"} == {
        name: value for name, value in all_scores("binary", part, chances).items() if name != "f1"
    }


def test_perfect_predictions_have_the_best_scores():
    truth = np.array([0, 1, 2, 1])

    scores = all_scores("multiclass", truth, np.eye(3)[truth])

    assert scores == {
        "accuracy": 1,
        "balanced_accuracy": 1,
        "kappa": 1,
        "f1_macro": 1,
        "roc_auc": 1,
        "neg_log_loss": 0,
        "neg_brier": 0,
    }


def test_one_class_in_a_fold_leaves_only_what_cannot_be_defined_undefined():
    truth = np.zeros(4, dtype=int)
    probabilities = np.tile([0.7, 0.2, 0.1], (4, 1))

    scores = all_scores("multiclass", truth, probabilities)

    assert {name for name, value in scores.items() if math.isnan(value)} == {"roc_auc", "kappa"}
    assert scores["accuracy"] == scores["balanced_accuracy"] == scores["f1_macro"] == 1


def test_roc_auc_averages_over_the_classes_present():
    truth = np.array([0, 0, 1, 1])
    probabilities = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.3, 0.6, 0.1], [0.2, 0.7, 0.1]])

    scores = all_scores("multiclass", truth, probabilities)

    assert scores["roc_auc"] == 1


def test_a_class_the_training_fold_lacked_costs_log_loss_but_stays_finite():
    truth = np.array([0, 1, 2])
    probabilities = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]])

    scores = all_scores("multiclass", truth, probabilities)

    assert scores["neg_log_loss"] == pytest.approx(math.log(1e-15) / 3)


def test_rows_without_probability_count_as_uniform():
    scores = all_scores("binary", np.array([0, 1]), np.zeros((2, 2)))

    assert scores["neg_log_loss"] == pytest.approx(-math.log(2))


def test_constant_target_and_constant_predictions_have_defined_scores():
    constant_target = all_scores("regression", np.full(3, 0.1), np.array([0.1, 0.2, 0.3]))
    constant_values = all_scores("regression", np.array([1.0, 2.0, 3.0]), np.full(3, 0.1))
    single_row = all_scores("regression", np.array([1.0]), np.array([2.0]))

    assert constant_target["r2"] == 0
    assert math.isnan(constant_target["spearman"])
    assert constant_values["spearman"] == 0
    assert math.isnan(single_row["r2"])


def test_huge_predictions_score_badly_but_finitely():
    scores = all_scores("regression", np.array([1.0, 2.0]), np.array([1e300, -1e300]))

    assert all(math.isfinite(value) for value in scores.values())
    assert scores["neg_rmse"] < -1e200


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
