"""Landmarkers of a numeric target."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.metafeatures.regression_landmarkers import NAMES, r2, regression_landmarkers
from metaml.metafeatures.view import view_of


def dataset(columns, y, task):
    return from_frame(pd.DataFrame({**columns, "y": y}), target="y", task=task)


def test_a_line_is_linear_and_a_step_is_a_stump():
    x = np.linspace(0.01, 1.01, 300)
    line = dict(regression_landmarkers(view_of(dataset({"x": x}, 3 * x + 0.5, "regression"))))
    step = dict(regression_landmarkers(view_of(dataset({"x": x}, np.where(x > 0.5, 1.5, 0.25), "regression"))))

    assert line["LinearR2"] == pytest.approx(1.0, abs=1e-3)
    assert line["DecisionStumpR2"] == pytest.approx(0.75, abs=0.05)
    assert step["DecisionStumpR2"] > 0.95
    assert step["LinearR2"] == pytest.approx(0.75, abs=0.05)


def test_levels_are_read_by_the_mean_of_their_targets():
    colours = np.array(["red", "green", "blue"] * 40)
    y = np.select([colours == "red", colours == "green"], [1.5, 7.25], 3.0)

    found = dict(regression_landmarkers(view_of(dataset({"colour": colours}, y, "regression"))))

    assert found["LinearR2"] > 0.95
    assert found["kNN1NR2"] > 0.95


def test_a_class_has_none_of_them(shop):
    assert dict(regression_landmarkers(view_of(shop))) == dict.fromkeys(NAMES, "class target")


def test_guesses_that_are_far_off_count_as_minus_one():
    assert r2(np.array([1e9, 0.0]), np.array([1.0, 2.0])) == -1.0
    assert r2(np.array([1.5, 1.5]), np.array([1.0, 2.0])) == 0.0
