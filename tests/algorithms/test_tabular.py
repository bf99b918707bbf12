"""Head and model as one estimator."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS, decision_tree, elastic_net


def test_labels_of_any_kind_come_back_as_they_were():
    X = pd.DataFrame({"x": np.arange(20.0)})
    y = np.repeat(["no", "yes"], 10)

    estimator = decision_tree.build(decision_tree.space("binary").default(), task="binary", seed=0).fit(X, y)

    assert estimator.predict(X).tolist() == y.tolist()
    assert estimator.classes_.tolist() == ["no", "yes"]


def test_the_unit_of_a_regression_target_does_not_matter():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = X["a"].to_numpy() + rng.normal(size=60)

    for name in ("svm", "elastic_net", "decision_tree", "xgboost"):
        algorithm = ALGORITHMS[name]
        config = algorithm.space("regression").default()
        small = algorithm.build(config, task="regression", seed=0).fit(X, y).predict(X)
        large = algorithm.build(config, task="regression", seed=0).fit(X, 1e6 * y + 1e7).predict(X)

        assert large == pytest.approx(1e6 * small + 1e7, rel=1e-3)


def test_a_line_is_not_followed_out_of_all_reason():
    X = pd.DataFrame({"x": np.arange(20.0)})
    config = elastic_net.space("regression").default()
    estimator = elastic_net.build(config, task="regression", seed=0).fit(X, np.arange(20.0))

    near, far = estimator.predict(pd.DataFrame({"x": [25.0, 1e9]}))

    assert near == pytest.approx(25, rel=0.05)
    assert far == 38.0  # the largest target and the width of the targets


def test_balanced_weights_raise_the_chances_of_the_rare_class():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=200)})
    y = (X["x"] + rng.normal(size=200) > 2).to_numpy().astype(int)

    for name in ("random_forest", "extra_trees", "decision_tree", "elastic_net", "svm", "mlp", "adaboost"):
        algorithm = ALGORITHMS[name]
        default = {**algorithm.space("binary").default()}
        if "min_samples_leaf" in default:
            default |= {"min_samples_leaf": 15}
        if "n_estimators" in default:
            default |= {"n_estimators": 20}
        plain = algorithm.build(default, task="binary", seed=0).fit(X, y)
        balanced = algorithm.build({**default, "class_weight": "balanced"}, task="binary", seed=0).fit(X, y)

        assert balanced.predict_proba(X)[:, 1].mean() > 1.1 * plain.predict_proba(X)[:, 1].mean(), name


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("name", ["random_forest", "extra_trees"])
def test_a_forest_says_what_scikit_learn_makes_of_its_trees(name, task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = X["a"].to_numpy() if task == "regression" else np.digitize(X["a"], [0.0] if task == "binary" else [-0.5, 0.5])
    estimator = ALGORITHMS[name].build(ALGORITHMS[name].space(task).default(), task=task, seed=0).fit(X, y)
    Z, forest = estimator.head_.transform(X), estimator.model_

    if task == "regression":
        assert np.array_equal(forest.predict(Z), forest.model.predict(Z))
    else:
        assert np.array_equal(forest.predict_proba(Z), forest.model.predict_proba(Z))
