"""Boosters choose their number of rounds on held-out rows, or do without when rows are few."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.boosting import MAX_ROUNDS, rounds_without_stopping, split_rows

BOOSTERS = [name for name in ("gradient_boosting", "xgboost", "lightgbm", "catboost") if name in ALGORITHMS]


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + rng.normal(scale=0.5, size=n) > 0).to_numpy().astype(int)


def build(name, task="binary", **settings):
    space = ALGORITHMS[name].space(task)
    return ALGORITHMS[name].build(space.complete({**space.default(), **settings}), task=task, seed=0)


def test_held_out_rows_have_their_share_of_each_class():
    y = np.repeat([0, 1, 2], [100, 40, 1])

    train, held_out = split_rows(y, 3, 0.2, np.random.default_rng(0))

    assert np.bincount(y[held_out], minlength=3).tolist() == [20, 8, 0]
    assert sorted([*train, *held_out]) == list(range(141))


def test_held_out_rows_of_a_regression_are_a_fraction():
    train, held_out = split_rows(np.linspace(0, 1, 80), None, 0.25, np.random.default_rng(0))

    assert (len(train), len(held_out)) == (60, 20)


@pytest.mark.parametrize("y", [np.arange(49) % 2, np.repeat([0, 1], [100, 3])])
def test_few_rows_or_few_members_cannot_say_when_to_stop(y):
    assert split_rows(y, 2, 0.2, np.random.default_rng(0)) is None


@pytest.mark.parametrize("name", BOOSTERS)
def test_noise_stops_a_booster_early(name):
    X, y = problem(300)

    estimator = build(name, learning_rate=0.3).fit(X, y)

    assert 1 <= estimator.rounds_ < 60 < MAX_ROUNDS


@pytest.mark.parametrize("name", BOOSTERS)
def test_few_rows_give_a_fixed_number_of_rounds(name):
    X, y = problem(30)

    estimator = build(name, learning_rate=0.5).fit(X, y)

    assert estimator.rounds_ == rounds_without_stopping(0.5) == 20


@pytest.mark.parametrize("name", BOOSTERS)
def test_refit_keeps_the_rounds_and_uses_all_rows(name):
    X, y = problem(200)

    plain = build(name, learning_rate=0.3).fit(X, y)
    refitted = build(name, learning_rate=0.3, refit=True).fit(X, y)

    assert refitted.rounds_ == plain.rounds_
    assert not np.array_equal(refitted.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize("name", BOOSTERS)
def test_balanced_weights_raise_the_chances_of_the_rare_class(name):
    X, _ = problem(300)
    rng = np.random.default_rng(1)
    y = (X["a"] + rng.normal(size=300) > 2).to_numpy().astype(int)

    plain = build(name).fit(X, y).predict_proba(X)[:, 1].mean()
    balanced = build(name, class_weight="balanced").fit(X, y).predict_proba(X)[:, 1].mean()

    assert balanced > 1.5 * plain


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_trees_see_both_of_two_columns(name):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    y = (X["a"] * X["b"] > 0).to_numpy(np.int64)
    algorithm = ALGORITHMS[name]

    model = algorithm.build(algorithm.space("binary").default(), task="binary", seed=0).fit(X[:300], y[:300])

    assert (model.predict(X[300:]) == y[300:]).mean() > 0.85
