"""Ensembles of trees that run out of time have the first trees of the whole."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS


def problem(task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    signal = X["a"].to_numpy() + rng.normal(size=200)
    return X, signal if task == "regression" else (signal > 0).astype(int)


def fitted(name, task, seconds, n_threads=1):
    algorithm = ALGORITHMS[name]
    config = {**algorithm.space(task).default(), "n_estimators": 40}
    X, y = problem(task)
    return algorithm.build(config, task=task, seed=0, n_threads=n_threads, seconds=seconds).fit(X, y)


def nodes(trees):
    return [tree.tree_.threshold.tolist() for tree in trees]


@pytest.mark.parametrize("task", ["binary", "regression"])
@pytest.mark.parametrize("name", ["random_forest", "extra_trees"])
def test_a_forest_without_time_is_four_trees_or_one_for_each_thread(name, task):
    whole = fitted(name, task, None).model_.model

    few = fitted(name, task, 0.0)
    six = fitted(name, task, 0.0, n_threads=6)

    assert few.stopped_early_
    assert nodes(few.model_.model.estimators_) == nodes(whole.estimators_[:4])
    assert len(six.model_.model.estimators_) == 6


@pytest.mark.parametrize("name", ["random_forest", "extra_trees"])
def test_a_forest_with_time_enough_is_the_same_to_its_last_setting(name):
    whole, in_time = fitted(name, "binary", None), fitted(name, "binary", 1000.0)

    assert not in_time.stopped_early_
    assert nodes(in_time.model_.model.estimators_) == nodes(whole.model_.model.estimators_)
    assert in_time.model_.model.get_params() == whole.model_.model.get_params()


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_adaboost_without_time_is_its_first_tree(task):
    whole, first = fitted("adaboost", task, None), fitted("adaboost", task, 0.0)

    assert first.stopped_early_
    assert nodes(first.model_.model_.estimators_) == nodes(whole.model_.model_.estimators_[:1])


@pytest.mark.parametrize("seconds", [None, 1000.0])
def test_a_forest_grows_no_more_trees_than_its_memory_holds(seconds, monkeypatch):
    whole = fitted("random_forest", "binary", None).model_.model
    monkeypatch.setattr("metaml.algorithms.forests._MOST_BYTES", 64_000)

    small = fitted("random_forest", "binary", seconds)

    grown = small.model_.model.estimators_
    assert 4 <= len(grown) < 40
    assert nodes(grown) == nodes(whole.estimators_[: len(grown)])
    assert not small.stopped_early_
