"""A single row gets bitwise what it gets among many: flat trees and calls for one row change no prediction."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.flat_trees import FEW_CALLS, of_forest

QUICK = {
    "random_forest": {"n_estimators": 12},
    "extra_trees": {"n_estimators": 12},
    "adaboost": {"n_estimators": 12},
    "gradient_boosting": {},
    "lightgbm": {},
    "xgboost": {},
}
N = 160


def problem(task, *, with_categories):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    y = X["a"].to_numpy() + 0.3 * rng.normal(size=N)
    X.loc[rng.random(N) < 0.2, "b"] = np.nan
    if with_categories:
        X["e"] = pd.Categorical(rng.choice(["x", "y", "z"], N))
    return X, y if task == "regression" else np.digitize(y, [0.0] if task == "binary" else [-0.5, 0.5])


@pytest.mark.parametrize("with_categories", [False, True], ids=["numbers", "categories"])
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("name", QUICK)
def test_a_row_alone_is_predicted_as_among_others(name, task, with_categories):
    X, y = problem(task, with_categories=with_categories)
    algorithm = ALGORITHMS[name]
    config = {**algorithm.space(task).default(), **QUICK[name]}
    estimator = algorithm.build(config, task=task, seed=0).fit(X, y)
    predict = estimator.predict if task == "regression" else estimator.predict_proba

    together = predict(X[:30])
    alone = np.concatenate([predict(X.iloc[[row]]) for row in range(30)])

    assert np.array_equal(together, alone)


def test_trees_are_flattened_once_and_anew_after_they_grew():
    X, y = problem("binary", with_categories=False)
    algorithm = ALGORITHMS["random_forest"]
    forest = algorithm.build({**algorithm.space("binary").default(), "n_estimators": 10}, task="binary", seed=0)
    model = forest.fit(X, y).model_
    trees = [tree.tree_ for tree in model.model.estimators_]

    first, again, fewer = of_forest(model, trees), of_forest(model, trees), of_forest(model, trees[:2])

    assert first is again
    assert len(first.roots) == 10
    assert len(fewer.roots) == 2


def test_many_nodes_are_flattened_only_for_a_model_that_is_asked_again_and_again(monkeypatch):
    monkeypatch.setattr("metaml.algorithms.flat_trees.FEW_NODES", 10)
    X, y = problem("binary", with_categories=False)
    algorithm = ALGORITHMS["random_forest"]
    forest = algorithm.build({**algorithm.space("binary").default(), "n_estimators": 10}, task="binary", seed=0)
    model = forest.fit(X, y).model_
    trees = [tree.tree_ for tree in model.model.estimators_]

    answers = [of_forest(model, trees) for _ in range(FEW_CALLS + 1)]

    assert answers[:FEW_CALLS] == [None] * FEW_CALLS
    assert answers[FEW_CALLS] is not None
