"""Conformal prediction holds what it promises, and says the same as mapie."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold

from metaml.ensemble.conformal import cross_bounds, interval_losses, intervals, label_sets, parts_of, rank_for
from metaml.errors import BadRequest


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=n) * (0.5 + np.abs(X[:, 0]))


def cross_errors(model, X, y, n_folds=5):
    """Return the error of each row by the model without its fold."""
    errors = np.empty(len(y))
    for train, test in KFold(n_folds).split(X):
        errors[test] = np.abs(y[test] - type(model)().fit(X[train], y[train]).predict(X[test]))
    return errors


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.95])
def test_intervals_around_a_model_of_all_rows_are_those_of_mapie(coverage):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mapie.regression import CrossConformalRegressor
    (X, y), (new, _) = table(203), table(50, seed=1)
    oracle = CrossConformalRegressor(LinearRegression(), confidence_level=coverage, method="base", cv=KFold(5))
    _, expected = oracle.fit_conformalize(X, y).predict_interval(new)

    centres = LinearRegression().fit(X, y).predict(new)
    low, high = intervals(centres, np.ones_like(centres), cross_errors(LinearRegression(), X, y), coverage)

    assert low == pytest.approx(expected[:, 0, 0])
    assert high == pytest.approx(expected[:, 1, 0])


def test_label_sets_are_those_of_mapie():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mapie.classification import SplitConformalClassifier
    X, y = table(400)
    labels = np.digitize(y, [-1.5, 1.5])
    model = LogisticRegression().fit(X[:200], labels[:200])
    oracle = SplitConformalClassifier(model, confidence_level=0.9, conformity_score="lac", prefit=True)
    _, expected = oracle.conformalize(X[200:300], labels[200:300]).predict_set(X[300:])

    errors = 1 - model.predict_proba(X[200:300])[np.arange(100), labels[200:300]]
    new = model.predict_proba(X[300:])
    found = label_sets(new[None], errors, np.zeros(100, dtype=int), 0.9, new.argmax(axis=1))

    assert np.array_equal(found | expected[:, :, 0], found)
    assert (found != expected[:, :, 0]).sum() == (~expected[:, :, 0].any(axis=1)).sum()


def test_intervals_hold_new_values_as_often_as_asked():
    (X, y), (new, truth) = table(1000), table(4000, seed=1)
    centres = LinearRegression().fit(X, y).predict(new)

    low, high = intervals(centres, np.ones_like(centres), cross_errors(LinearRegression(), X, y), 0.8)

    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.8, abs=0.02)


def test_the_unit_of_an_error_makes_intervals_wide_where_errors_are_large():
    (X, y), (new, truth) = table(2000), table(4000, seed=1)
    predicted, unit = X @ [1.0, -2.0, 0.5], 0.5 + np.abs(X[:, 0])
    new_unit = 0.5 + np.abs(new[:, 0])
    centre = new @ [1.0, -2.0, 0.5]

    low, high = intervals(centre, new_unit, np.abs(y - predicted) / unit, 0.9)
    flat_low, flat_high = intervals(centre, np.ones_like(centre), np.abs(y - predicted), 0.9)

    far = np.abs(new[:, 0]) > 1.5
    assert np.mean((low <= truth)[far] & (truth <= high)[far]) == pytest.approx(0.9, abs=0.04)
    assert np.mean((flat_low <= truth)[far] & (truth <= flat_high)[far]) < 0.8
    missed = np.abs(truth - centre)
    assert (
        interval_losses(missed, (high - low) / 2, 0.9).mean()
        < interval_losses(missed, (flat_high - flat_low) / 2, 0.9).mean()
    )


def test_the_predicted_label_is_always_in_the_set():
    chances = np.array([[[0.6, 0.4], [0.45, 0.55]]])

    found = label_sets(chances, np.full(50, 0.01), np.zeros(50, dtype=int), 0.5, np.array([0, 0]))

    assert found.tolist() == [[True, False], [True, False]]


def test_no_row_judges_itself():
    errors, parts = np.array([0.0, 0.0, 0.0, 9.0, 9.0, 9.0]), np.array([0, 0, 0, 1, 1, 1])

    assert cross_bounds(errors, parts, 0.5).tolist() == [9.0, 9.0, 9.0, 0.0, 0.0, 0.0]


def test_rows_of_one_fold_take_the_part_of_several():
    assert parts_of(np.zeros(10)).tolist() == [0, 1, 2, 3, 4] * 2
    assert parts_of(np.array([4, 2, 4])).tolist() == [1, 0, 1]


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1.0, 90.0, float("nan")])
def test_a_coverage_that_is_no_share_is_refused(coverage):
    with pytest.raises(BadRequest, match="between 0 and 1"):
        rank_for(coverage, 100)


def test_too_few_rows_for_a_coverage_are_said_with_what_is_possible():
    with pytest.raises(BadRequest, match=r"19 rows, too few for a coverage of 0.99. Ask for at most 0.95"):
        rank_for(0.99, 19)
