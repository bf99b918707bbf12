"""Histogram gradient boosting: only the rounds up to the best are kept, and damaged trees are refused."""

import functools

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import gradient_boosting

SAVES = {saved.name: saved for saved in gradient_boosting.ALGORITHM.saves}


@pytest.fixture(scope="module")
def fitted():
    """A booster that was stopped early, on a number and a category."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "colour": pd.Categorical(["red", "blue"] * 100)})
    y = (X["a"] + rng.normal(size=200) > 0).to_numpy().astype(int)
    config = {**gradient_boosting.space("binary").default(), "learning_rate": 0.3}
    return gradient_boosting.build(config, task="binary", seed=0).fit(X, y).model_


def copy_of(item, name):
    """Return the object as a file would give it back."""
    return SAVES[name].restored(dict(SAVES[name].state_of(item)))


def test_rounds_after_the_best_are_not_kept(fitted):
    assert len(fitted.model_._predictors) == fitted.rounds_ < 60


def test_a_file_that_still_holds_later_rounds_is_cut_to_the_best(fitted):
    state = {**SAVES["gradient_boosting"].state_of(fitted), "rounds_": 1}
    model = copy_of(fitted.model_, "HistGradientBoostingClassifier")
    model._predictors = list(model._predictors)

    older = SAVES["gradient_boosting"].restored({**state, "model_": model})

    assert len(older.model_._predictors) == 1


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [("left", 10_000, "points outside"), ("left", 0, "points outside"), ("bitset_idx", 99, "categories")],
)
def test_a_tree_that_refers_to_what_is_not_there_is_refused(fitted, field, value, says):
    trees = [tree for trees in fitted.model_._predictors for tree in trees]
    tree = next(tree for tree in trees if len(tree.raw_left_cat_bitsets))
    nodes = tree.nodes.copy()
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    nodes[field][inner] = value

    with pytest.raises(ValueError, match=says):
        SAVES["TreePredictor"].restored({**vars(tree), "nodes": nodes})


def test_no_function_but_the_check_of_arrays_is_saved():
    with pytest.raises(TypeError, match="cannot save the function"):
        SAVES["check_array"].state_of(functools.partial(print))
