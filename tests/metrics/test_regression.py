"""Metrics of regression: as scikit-learn has them, and defined where it has none."""

import math

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn import metrics as reference

from metaml.evaluation.scoring import all_scores


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
    assert {name: scores[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-12)


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


def test_weighted_scores_equal_those_of_scikit_learn():
    rng = np.random.default_rng(5)
    truth, weight = rng.normal(5, 2, size=60), rng.uniform(0.1, 3.0, 60)
    values = truth + rng.normal(size=60)

    scores = all_scores("regression", truth, values, weight=weight)

    expected = {
        "neg_rmse": -reference.root_mean_squared_error(truth, values, sample_weight=weight),
        "neg_mae": -reference.mean_absolute_error(truth, values, sample_weight=weight),
        "neg_mape": -reference.mean_absolute_percentage_error(truth, values, sample_weight=weight),
        "r2": reference.r2_score(truth, values, sample_weight=weight),
    }
    assert {name: scores[name] for name in expected} == pytest.approx(expected, rel=0, abs=1e-12)
