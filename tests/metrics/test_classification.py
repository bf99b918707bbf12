"""Metrics of classification: as scikit-learn has them, and defined where it has none."""

import math

import numpy as np
import pytest
from sklearn import metrics as reference

from metaml.evaluation.scoring import all_scores


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
    assert {name: scores[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-12)


def test_f1_of_a_part_looks_at_the_class_that_is_rarer_in_the_whole():
    whole = np.array([0, 0, 0, 0, 1, 1, 1])
    part, chances = np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])

    scores = all_scores("binary", part, chances, y=whole)

    assert scores["f1"] == pytest.approx(2 / 3)
    assert {name: value for name, value in scores.items() if name != "f1"} == {
        name: value for name, value in all_scores("binary", part, chances).items() if name != "f1"
    }


def test_one_class_in_a_fold_leaves_only_what_cannot_be_defined_undefined():
    truth = np.zeros(4, dtype=int)
    probabilities = np.tile([0.7, 0.2, 0.1], (4, 1))

    scores = all_scores("multiclass", truth, probabilities)

    assert {name for name, value in scores.items() if math.isnan(value)} == {
        "roc_auc",
        "kappa",
        "mcc",
        "weighted_kappa",
    }
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


@pytest.mark.parametrize("n_classes", [2, 4])
def test_weighted_scores_equal_those_of_scikit_learn(n_classes):
    truth, probabilities = random_classification(n_classes, seed=11)
    labels, weight = probabilities.argmax(axis=1), np.random.default_rng(4).uniform(0.1, 3.0, len(truth))

    scores = all_scores("binary" if n_classes == 2 else "multiclass", truth, probabilities, weight=weight)

    ranked = probabilities[:, 1] if n_classes == 2 else probabilities
    one_hot = truth == 1 if n_classes == 2 else np.eye(n_classes)[truth]
    several = {} if n_classes == 2 else {"multi_class": "ovr", "average": "macro"}
    expected = {
        "accuracy": reference.accuracy_score(truth, labels, sample_weight=weight),
        "balanced_accuracy": reference.balanced_accuracy_score(truth, labels, sample_weight=weight),
        "kappa": reference.cohen_kappa_score(truth, labels, sample_weight=weight),
        "mcc": reference.matthews_corrcoef(truth, labels, sample_weight=weight),
        "weighted_kappa": reference.cohen_kappa_score(truth, labels, weights="quadratic", sample_weight=weight),
        "f1_macro": reference.f1_score(truth, labels, average="macro", sample_weight=weight),
        "roc_auc": reference.roc_auc_score(truth, ranked, sample_weight=weight, **several),
        "average_precision": reference.average_precision_score(one_hot, ranked, sample_weight=weight),
        "neg_log_loss": -reference.log_loss(truth, probabilities, sample_weight=weight),
    }
    assert {name: scores[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-12)
