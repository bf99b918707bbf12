"""The further metrics give what scikit-learn gives."""

import numpy as np
import pytest
from sklearn import metrics as oracle

from metaml.metrics import metric

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 3, 200)
LABELS = np.where(RNG.random(200) < 0.6, TRUTH, RNG.integers(0, 3, 200))
CHANCES = np.round(RNG.dirichlet(np.ones(3), 200), 2) + 1e-3


def test_labels_as_scikit_learn_has_them():
    assert metric("mcc").function(TRUTH, LABELS) == pytest.approx(oracle.matthews_corrcoef(TRUTH, LABELS))
    wanted = oracle.cohen_kappa_score(TRUTH, LABELS, weights="quadratic")
    assert metric("weighted_kappa").function(TRUTH, LABELS) == pytest.approx(wanted)


def test_average_precision_with_ties_as_scikit_learn_has_it():
    truth, scores = (TRUTH == 1).astype(int), np.round(CHANCES[:, 1], 1)

    found = metric("average_precision").function(truth, np.column_stack([1 - scores, scores]))

    assert found == pytest.approx(oracle.average_precision_score(truth, scores))


def test_a_loss_by_class_is_that_of_balanced_rows():
    weights = 1 / np.bincount(TRUTH)[TRUTH]
    unit = CHANCES / CHANCES.sum(axis=1, keepdims=True)

    found = metric("log_loss_by_class").function(TRUTH, CHANCES)

    assert -found == pytest.approx(oracle.log_loss(TRUTH, unit, sample_weight=weights))


def test_shares_of_the_truth():
    truth, values = np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 3.0])

    wanted = oracle.mean_absolute_percentage_error(truth, values)
    assert -metric("mape").function(truth, values) == pytest.approx(wanted)
    assert -metric("smape").function(truth, values) == pytest.approx(np.mean([1 / 1.5, 0, 1 / 3.5]))


def test_what_the_rows_cannot_define_is_not_a_number():
    ones = np.ones(4, dtype=int)

    assert np.isnan(metric("mcc").function(ones, ones))
    assert np.isnan(metric("weighted_kappa").function(ones, ones))
    assert metric("mcc").function(np.array([0, 1]), np.array([1, 1])) == 0
