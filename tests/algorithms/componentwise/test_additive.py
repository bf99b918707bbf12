"""An additive model finds the columns that matter, and its effects are what it predicts with."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms.componentwise import additive


def build(task, **settings):
    config = {**additive.space(task).default(), **settings}
    if config["stopping"] == "probing":
        for name in ("early_stopping_rounds", "validation_fraction", "refit"):
            config.pop(name)
    return additive.build(config, task=task, seed=0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 12)), columns=[f"x{i}" for i in range(12)])
    X["kind"] = pd.Categorical(rng.choice(["a", "b", "c"], 600))
    return X


def signal(X):
    return 2 * X["x0"].to_numpy() + np.sin(2 * X["x1"].to_numpy()) + 1.5 * (X["kind"] == "b").to_numpy()


def selected(estimator):
    names = estimator.head_.sources()
    return {names[column] for effect in estimator.model_.effects_ for column in effect.term.columns}


def test_the_sum_of_its_effects_is_the_prediction(table):
    estimator = build("regression").fit(table, signal(table))
    Z, model = estimator.head_.transform(table), estimator.model_

    total = model.intercept_[0] + sum(effect.at(Z)[:, 0] for effect in model.effects_)

    assert estimator.predict(table) == pytest.approx(total * estimator.std_ + estimator.mean_)


def test_curves_find_what_lines_cannot(table):
    lines = build("regression", effects="lines").fit(table[:400], signal(table)[:400])
    curves = build("regression").fit(table[:400], signal(table)[:400])

    assert curves.score(table[400:], signal(table)[400:]) > 0.97 > lines.score(table[400:], signal(table)[400:])


def test_probing_selects_the_columns_that_matter(table):
    noisy = signal(table) + np.random.default_rng(1).normal(size=600)

    estimator = build("regression", stopping="probing").fit(table, noisy)

    assert {"x0", "x1", "kind"} <= selected(estimator)
    assert len(selected(estimator)) <= 6


def test_pairs_find_an_interaction(table):
    y = signal(table) + 2 * np.sign(table["x0"] * table["x1"]).to_numpy()

    alone = build("regression").fit(table[:400], y[:400])
    paired = build("regression", n_pairs=2).fit(table[:400], y[:400])

    assert paired.score(table[400:], y[400:]) > alone.score(table[400:], y[400:]) + 0.1
    assert any(len(effect.term.columns) == 2 for effect in paired.model_.effects_)


@pytest.mark.parametrize(("task", "edges"), [("binary", [0.0]), ("multiclass", [-1.0, 1.0])])
def test_classes_get_probabilities_that_separate_them(table, task, edges):
    y = np.digitize(signal(table), edges)

    estimator = build(task).fit(table[:400], y[:400])

    assert estimator.score(table[400:], y[400:]) > 0.85


def test_missing_numbers_have_an_effect_of_their_own(table):
    X = table.copy()
    X.loc[::4, "x3"] = np.nan
    y = np.where(X["x3"].isna(), 3.0, 0.0)

    estimator = build("regression").fit(X, y)

    assert estimator.predict(X) == pytest.approx(y, abs=0.3)
