"""LightGBM: its own settings follow from the task, and its text is the whole model."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import lightgbm

BOOSTER = next(saved for saved in lightgbm.ALGORITHM.saves if saved.name == "LightGBMBooster")


def fitted(task, y, **settings):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(len(y), 3)), columns=["a", "b", "c"])
    return X, lightgbm.build({**lightgbm.space(task).default(), **settings}, task=task, seed=0).fit(X, y)


@pytest.mark.parametrize(
    ("task", "y", "objective"),
    [
        ("binary", np.arange(60) % 2, "binary"),
        ("multiclass", np.arange(60) % 3, "multiclass"),
        ("regression", np.arange(60.0), "regression"),
    ],
)
def test_the_objective_follows_from_the_task(task, y, objective):
    _, estimator = fitted(task, y)

    assert estimator.model_.booster_.params["objective"] == objective


def test_each_class_has_a_probability():
    X, estimator = fitted("multiclass", np.arange(60) % 3)

    chances = estimator.predict_proba(X)

    assert chances.shape == (60, 3)
    assert chances.sum(axis=1) == pytest.approx(np.ones(60))


def test_a_booster_read_back_from_its_text_predicts_the_same():
    X, estimator = fitted("binary", np.arange(60) % 2)
    booster = estimator.model_.booster_
    Z = estimator.head_.transform(X)

    again = BOOSTER.restored(BOOSTER.state_of(booster))

    assert np.array_equal(again.predict(Z), booster.predict(Z))


def test_how_much_categories_are_smoothed_is_asked_only_where_they_are_native():
    space = lightgbm.space("binary")

    native, one_hot = (space.complete({**space.default(), "encoding": kind}) for kind in ("native", "one_hot"))

    assert "cat_smooth" in native
    assert "cat_smooth" not in one_hot
