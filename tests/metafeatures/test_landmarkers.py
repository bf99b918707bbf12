"""Landmarkers of classes: what simple learners make of a data set."""

import numpy as np
import pandas as pd

from metaml.data import from_frame
from metaml.metafeatures.landmarkers import NAMES, landmarkers, two_folds
from metaml.metafeatures.view import view_of


def dataset(columns, y, task):
    return from_frame(pd.DataFrame({**columns, "y": y}), target="y", task=task)


def test_everyone_solves_a_threshold():
    x = np.linspace(0.01, 1.01, 200)
    easy = dataset({"x": x}, np.where(x > 0.5, "high", "low"), "binary")

    found = dict(landmarkers(view_of(easy)))

    assert set(found) == set(NAMES)
    # Naive Bayes puts a normal density on each half and may err at the border; depth does not matter here.
    assert all(found[name] <= 0.03 for name in NAMES if name.endswith("ErrRate"))
    assert all(found[name] >= 0.94 for name in NAMES if name.endswith("Kappa"))
    assert all(found[name] >= 0.97 for name in NAMES if name.endswith("AUC"))


def test_no_landmarker_solves_noise():
    rng = np.random.default_rng(0)
    noise = dataset({f"x{i}": rng.random(600) for i in range(4)}, rng.choice(["a", "b"], 600), "binary")

    found = dict(landmarkers(view_of(noise)))

    assert all(abs(found[name] - 0.5) < 0.1 for name in NAMES if name.endswith("AUC"))


def test_depth_tells_a_checkerboard_from_a_threshold():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (800, 2)).astype(float) + rng.random((800, 2)) / 10
    y = np.where((x[:, 0] < 0.5) ^ (x[:, 1] < 0.6), "a", "b")
    board = dataset({"x0": x[:, 0], "x1": x[:, 1]}, y, "binary")

    found = dict(landmarkers(view_of(board)))

    assert found["DecisionStumpErrRate"] > 0.3
    assert found["REPTreeDepth1ErrRate"] > 0.3
    assert found["kNN1NErrRate"] == 0.0
    assert found["REPTreeDepth3ErrRate"] < found["REPTreeDepth1ErrRate"]


def test_folds_take_half_of_every_class():
    y = np.repeat([0, 1, 2], [10, 20, 30])

    first = two_folds(y)

    assert np.bincount(y[first]).tolist() == [5, 10, 15]
