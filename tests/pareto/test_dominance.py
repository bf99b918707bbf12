"""Dominance: the same fronts as moocore, on any set of points."""

import moocore
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml.pareto import front_numbers, is_non_dominated


@st.composite
def point_sets(draw):
    n, m = draw(st.integers(1, 30)), draw(st.integers(2, 3))
    # Whole numbers in a small range make ties and duplicates common.
    values = draw(st.lists(st.integers(0, 12), min_size=n * m, max_size=n * m))
    return np.array(values, dtype=np.float64).reshape(n, m)


@settings(max_examples=200, deadline=None)
@given(point_sets())
def test_the_front_is_that_of_moocore(points):
    assert is_non_dominated(points).tolist() == moocore.is_nondominated(points, keep_weakly=True).tolist()


@settings(max_examples=200, deadline=None)
@given(point_sets())
def test_fronts_are_numbered_as_moocore_numbers_them(points):
    assert front_numbers(points).tolist() == moocore.pareto_rank(points).tolist()


def test_a_point_without_a_value_is_on_no_front():
    points = np.array([[np.nan, 0.0], [1.0, 1.0]])

    assert is_non_dominated(points).tolist() == [False, True]
    assert front_numbers(points).tolist() == [1, 0]


def test_no_points_have_no_front():
    assert is_non_dominated(np.empty((0, 2))).tolist() == []
