"""Indicators: the epsilon indicator is moocore's, the knee is a point of the front."""

import moocore
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml.pareto import epsilon_indicator, knee


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 3))
def test_the_epsilon_indicator_is_that_of_moocore(seed, m):
    rng = np.random.default_rng(seed)
    front, other = rng.random((int(rng.integers(1, 20)), m)), rng.random((int(rng.integers(1, 20)), m))

    assert epsilon_indicator(front, other) == pytest.approx(moocore.epsilon_additive(front, ref=other))


def test_a_front_is_not_behind_itself():
    front = np.array([[0.0, 1.0], [1.0, 0.0]])

    assert epsilon_indicator(front, front) == 0.0


def test_the_knee_of_one_point_is_that_point():
    assert knee(np.array([[3.0, 4.0]])) == 0
