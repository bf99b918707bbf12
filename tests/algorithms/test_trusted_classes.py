"""Classes of model files: what is kept of an object, and which trees are refused."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from metaml.algorithms.trusted_classes import TREE, TrustedClass, as_bytes, check_nodes, filled


class Thing:
    """An object whose constructor must not run when it is read from a file."""

    def __init__(self, size):
        raise AssertionError("a file made an object run its code")


@pytest.fixture(scope="module")
def tree():
    """The compiled tree of a small classifier."""
    X = np.arange(20.0).reshape(-1, 1)
    return DecisionTreeClassifier(random_state=0).fit(X, X[:, 0] > 9).tree_


def test_a_class_is_found_where_it_is_imported_from():
    assert TrustedClass("Tree", "sklearn.tree:DecisionTreeClassifier").type is DecisionTreeClassifier


def test_attributes_come_back_without_the_constructor():
    thing = filled(Thing, {"size": 3})

    assert (type(thing), thing.size) == (Thing, 3)


def test_what_predicting_does_not_need_is_forgotten():
    thing = filled(Thing, {"size": 3, "scratch": "much"})

    assert TrustedClass("Thing", "x:Thing", forget=("scratch",)).state_of(thing) == {"size": 3, "scratch": None}


def test_bytes_are_kept_as_an_array():
    assert as_bytes(b"ab")["content"].tolist() == [97, 98]


def test_a_compiled_tree_predicts_the_same_after_a_round_trip(tree):
    X = np.arange(20.0, dtype=np.float32).reshape(-1, 1)

    again = TREE.restored(TREE.state_of(tree))

    assert np.array_equal(again.predict(X), tree.predict(X))


def test_a_tree_with_fewer_nodes_than_it_says_is_refused(tree):
    kept = TREE.state_of(tree)
    short = {**kept, "state": {**kept["state"], "node_count": 99}}

    with pytest.raises(ValueError, match="fewer nodes than it says"):
        TREE.restored(short)


@pytest.mark.parametrize(
    ("left", "right", "feature", "says"),
    [
        ([3, -1, -1], [2, -1, -1], [0, -2, -2], "points outside"),
        ([0, -1, -1], [2, -1, -1], [0, -2, -2], "points outside"),
        ([1, -1, -1], [2, -1, -1], [7, -2, -2], "columns that are not there"),
        ([1, -1, -1], [2, -1, -1], [-1, -2, -2], "columns that are not there"),
    ],
    ids=["beyond the end", "in a circle", "no such column", "a negative column"],
)
def test_a_tree_that_compiled_code_would_follow_out_of_memory_is_refused(left, right, feature, says):
    left, right, feature = np.array(left), np.array(right), np.array(feature)

    check_nodes(np.array([1, -1, -1]), np.array([2, -1, -1]), left < 0, np.array([0, -2, -2]), 2)
    with pytest.raises(ValueError, match=says):
        check_nodes(left, right, left < 0, feature, 2)
