"""The shape of a tree as numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.metafeatures import NOT_LEARNT_FROM
from metaml.metafeatures.model_based import NAMES, model_based
from metaml.metafeatures.view import view_of
from metaml.metalearning.history import make_history


def found_in(frame, task, target="y"):
    return dict(model_based(view_of(from_frame(frame, target=target, task=task))))


def test_the_numbers_are_those_of_a_tree_drawn_on_paper():
    # x splits 0 from the rest, which z splits again: leaves at depths 1, 2 and 2 with 4, 2 and 2 rows.
    frame = pd.DataFrame(
        {
            "x": [0.5, 0.5, 0.5, 0.5, 1.5, 1.5, 1.5, 1.5],
            "z": [0.5, 1.5, 0.5, 1.5, 0.5, 1.5, 0.5, 1.5],
            "y": ["a", "a", "a", "a", "b", "c", "b", "c"],
        }
    )

    found = found_in(frame, "multiclass")

    assert tuple(found) == NAMES
    assert [found[name] for name in NAMES[:4]] == [3, 2, 1.0, 0.25]
    assert [found[f"leaves_branch.{name}"] for name in ("min", "mean", "max")] == [1, pytest.approx(5 / 3), 2]
    assert found["leaves_branch.sd"] == pytest.approx(np.std([1, 2, 2], ddof=1))
    assert found["tree_depth.mean"] == pytest.approx((0 + 1 + 1 + 2 + 2) / 5)
    assert [found[f"leaves_corrob.{name}"] for name in ("min", "max")] == [0.25, 0.5]
    assert found["tree_shape.mean"] == pytest.approx(0.5)
    assert found["nodes_per_level.max"] == found["nodes_repeated.max"] == 1


def test_categories_count_as_one_column_each():
    frame = pd.DataFrame({"kind": list("abcd") * 5, "y": ["yes", "no", "yes", "no"] * 5})

    found = found_in(frame, "binary")

    assert found["leaves"] == 2
    assert found["nodes_per_attr"] == 1


def test_a_numeric_target_has_a_regression_tree():
    frame = pd.DataFrame({"x": np.arange(20) + 0.5, "y": np.repeat([1.5, 7.25], 10)})

    found = found_in(frame, "regression")

    assert (found["leaves"], found["nodes"]) == (2, 1)
    assert found["nodes_repeated.sd"] == "there is one value only"


def test_a_tree_that_cannot_split_says_so():
    view = view_of(from_frame(pd.DataFrame({"x": np.arange(6) + 0.5, "y": list("ababab")}), target="y", task="binary"))

    found = dict(model_based(replace(view, numbers=np.ones((6, 1)))))

    assert found["leaves"] == 1
    assert found["nodes_per_level.mean"] == "the tree has no split"


def test_no_meta_learner_sees_them():
    described = {"a": {"leaves": 4.0, "NumberOfInstances": 100.0}}

    history = make_history(
        "k_neighbors",
        "auc",
        datasets=["a"],
        groups=np.zeros(1, int),
        configs=[{}],
        scores=np.ones(1),
        metafeatures=described,
    )

    assert set(NAMES) == NOT_LEARNT_FROM
    assert list(history.metafeatures.columns) == ["NumberOfInstances"]
