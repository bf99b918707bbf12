"""AdaBoost: probabilities are shares of votes, and one tree is enough where boosting finds nothing."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import adaboost
from metaml.algorithms.adaboost import shares_of_votes


def build(task, **settings):
    return adaboost.build({**adaboost.space(task).default(), "n_estimators": 20, **settings}, task=task, seed=0)


def test_shares_of_votes_are_probabilities_and_never_zero():
    decisions = np.array([[1.0, -0.5, -0.5], [0.25, 0.25, -0.5]])

    shares = shares_of_votes(decisions, n_voters=10)

    assert shares.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert (shares > 0).all()
    assert shares[1, 0] == shares[1, 1] > shares[1, 2]


def test_votes_for_several_classes_are_not_squeezed_together_as_scikit_learn_does():
    X = pd.DataFrame({"a": np.linspace(0, 2.99, 90)})
    y = X["a"].to_numpy().astype(int)

    estimator = build("multiclass", max_depth=1).fit(X, y)
    chances = estimator.predict_proba(X)
    squeezed = estimator.model_.model_.predict_proba(estimator.head_.transform(X))

    assert (chances.argmax(axis=1) == y).mean() > 0.9
    assert chances.max() > squeezed.max() + 0.1


def test_where_the_first_tree_is_no_better_than_chance_it_answers_alone():
    X = pd.DataFrame({"same": np.ones(30)})

    estimator = build("binary").fit(X, np.arange(30) % 2)

    assert not hasattr(estimator.model_.model_, "estimators_")
    assert estimator.predict_proba(X) == pytest.approx(np.full((30, 2), 0.5))


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_every_loss_follows_a_line(loss):
    X = pd.DataFrame({"a": np.linspace(-1, 1, 80)})

    estimator = build("regression", loss=loss).fit(X, X["a"].to_numpy())

    assert estimator.score(X, X["a"]) > 0.95


@pytest.mark.parametrize(("task", "n_classes"), [("binary", 2), ("multiclass", 3), ("regression", None)])
def test_trees_that_are_called_directly_say_what_scikit_learn_says(task, n_classes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    signal = X["a"] + X["b"] * X["c"]
    y = signal.to_numpy() if n_classes is None else pd.qcut(signal, n_classes, labels=False).to_numpy()
    estimator = build(task).fit(X, y)
    Z, model = estimator.head_.transform(X), estimator.model_

    if n_classes is None:
        assert np.array_equal(model.predict(Z), model.model_.predict(Z))
    elif n_classes == 2:
        assert np.array_equal(model.predict_proba(Z), model.model_.predict_proba(Z))
    else:
        expected = shares_of_votes(model.model_.decision_function(Z), len(model.model_.estimators_))
        assert np.array_equal(model.predict_proba(Z), expected)
