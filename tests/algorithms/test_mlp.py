"""The perceptron stops on loss, not on accuracy."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import mlp


def build(task="binary", **settings):
    return mlp.build({**mlp.space(task).default(), **settings}, task=task, seed=0)


def test_a_rare_class_gets_its_share_of_probability():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=300)})
    y = (X["x"] + rng.normal(size=300) > 2.2).to_numpy().astype(int)

    chances = build().fit(X, y).predict_proba(X)[:, 1]

    assert chances.mean() == pytest.approx(y.mean(), abs=0.04)
    assert np.corrcoef(chances, X["x"])[0, 1] > 0.5


def test_training_ends_when_held_out_rows_no_longer_improve():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    y = rng.normal(size=200)

    estimator = build("regression", learning_rate=0.01, early_stopping_rounds=5).fit(X, y)

    assert estimator.rounds_ < 50
    assert estimator.predict(X).std() < 1


def test_few_rows_are_all_used():
    X = pd.DataFrame({"x": np.linspace(-1, 1, 20)})

    estimator = build("regression").fit(X, X["x"].to_numpy())

    assert estimator.rounds_ == 100
    assert estimator.score(X, X["x"]) > 0.8
