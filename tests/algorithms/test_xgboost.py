"""XGBoost: trees with dropout and the linear booster."""

import numpy as np
import pandas as pd

from metaml.algorithms import xgboost

BOOSTER = next(saved for saved in xgboost.ALGORITHM.saves if saved.name == "XGBoostBooster")


def problem(n):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + rng.normal(scale=0.5, size=n) > 0).to_numpy().astype(int)


def build(**settings):
    space = xgboost.space("binary")
    return xgboost.build(space.complete({**space.default(), **settings}), task="binary", seed=0)


def test_dart_trains_for_the_rounds_its_configuration_names():
    X, y = problem(100)

    estimator = build(booster="dart", n_rounds=23).fit(X, y)

    assert estimator.rounds_ == 23


def test_the_linear_booster_finds_a_line():
    X, y = problem(500)

    estimator = build(booster="gblinear").fit(X[:200], y[:200])

    assert estimator.score(X[200:], y[200:]) > 0.78


def test_dart_has_no_early_stopping_and_the_others_have_no_number_of_rounds():
    space = xgboost.space("binary")

    trees, dart = (space.complete({**space.default(), "booster": booster}) for booster in ("gbtree", "dart"))

    assert "early_stopping_rounds" in trees
    assert "n_rounds" not in trees
    assert "early_stopping_rounds" not in dart
    assert "n_rounds" in dart


def test_a_booster_read_back_from_its_bytes_predicts_the_same():
    X, y = problem(100)
    estimator = build().fit(X, y)
    before = estimator.predict_proba(X)

    estimator.model_.booster_ = BOOSTER.restored(BOOSTER.state_of(estimator.model_.booster_))

    assert np.array_equal(estimator.predict_proba(X), before)
