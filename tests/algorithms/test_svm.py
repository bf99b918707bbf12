"""Distances of a support vector machine become probabilities."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.svm import SVC

from metaml.algorithms import svm
from metaml.algorithms.svm import couple_pairs, fit_sigmoid


def test_the_sigmoid_that_made_the_labels_is_found_again():
    rng = np.random.default_rng(0)
    distances = rng.normal(scale=50, size=20_000)
    is_member = rng.random(20_000) < expit(0.04 * distances - 1)

    slope, offset = fit_sigmoid(distances, is_member, np.ones(20_000))

    assert (slope, offset) == (pytest.approx(0.04, rel=0.05), pytest.approx(-1, rel=0.05))


def test_separable_distances_give_finite_and_positive_slopes():
    slope, offset = fit_sigmoid(np.array([-1.0, 1.0]), np.array([False, True]), np.ones(2))

    assert 0 < slope < 10
    assert offset == pytest.approx(0, abs=1e-4)


def test_probabilities_are_calibrated_on_rows_the_machine_had_not_seen():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y = rng.permutation(np.arange(200) % 2)  # nothing to learn, but with this C the machine memorises the rows
    config = {**svm.space("binary").default(), "C": 1000.0, "gamma": 50.0}

    chances = svm.build(config, task="binary", seed=0).fit(X, y).predict_proba(X)[:, 1]

    assert np.abs(chances - 0.5).max() < 0.3


def test_without_time_the_machine_of_a_few_rows_still_knows_every_class():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 2)), columns=["a", "b"])
    y = np.digitize(X["a"], [-0.5, 0.5])
    y[7] = 3  # the only one

    estimator = svm.build(svm.space("multiclass").default(), task="multiclass", seed=0, seconds=0.0).fit(X, y)

    assert estimator.stopped_early_
    assert estimator.predict_proba(X).shape == (900, 4)
    assert (estimator.predict(X) == y).mean() > 0.9


def test_a_class_with_one_member_can_be_fitted():
    X = pd.DataFrame({"x": np.r_[np.linspace(-1, 1, 20), 5.0]})
    y = np.r_[np.repeat([0, 1], 10), 2]

    estimator = svm.build(svm.space("multiclass").default(), task="multiclass", seed=0).fit(X, y)

    assert estimator.predict_proba(X).shape == (21, 3)


def test_coupling_finds_the_probabilities_that_consistent_pairs_come_from():
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    pairs = [(0, 1), (0, 2), (1, 2)]
    chances = np.column_stack([p[:, i] / (p[:, i] + p[:, j]) for i, j in pairs])

    assert couple_pairs(chances, pairs) == pytest.approx(p)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_most_probable_class_is_the_right_one_where_classes_lie_apart(n_classes):
    y = np.arange(100) % n_classes
    X = pd.DataFrame({"x": 10.0 * y + np.linspace(-1, 1, 100)})
    task = "binary" if n_classes == 2 else "multiclass"

    estimator = svm.build(svm.space(task).default(), task=task, seed=0).fit(X, y)

    assert estimator.predict(X).tolist() == y.tolist()
    assert estimator.predict_proba(X).max(axis=1).min() > 0.6


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_dual_coef_", lambda _: None),
        ("_dual_coef_", lambda array: array[:, :-1]),
        ("_intercept_", lambda array: array[:1]),
        ("support_vectors_", lambda array: array[:-1]),
        ("_n_support", lambda array: array[:1]),
        ("_n_support", lambda array: array - array[0] - 1),
        ("support_", lambda array: array.astype(float)),
        ("kernel", lambda _: "precomputed"),
        ("_sparse", lambda _: True),
    ],
)
def test_a_machine_whose_parts_do_not_fit_is_refused(name, change):
    machine = SVC().fit(np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 3)
    trusted = next(one for one in svm.ALGORITHM.saves if one.name == "SVC")
    state = trusted.state_of(machine)

    assert trusted.restored(state).n_features_in_ == 3
    with pytest.raises(ValueError, match="support vector machine"):
        trusted.restored({**state, name: change(state[name])})
