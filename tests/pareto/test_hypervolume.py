"""Hypervolume: equal to moocore's on a thousand random sets, and gains that are differences of volumes."""

import moocore
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml.errors import BadRequest
from metaml.pareto import hypervolume, hypervolume_gains


def random_set(seed, m):
    rng = np.random.default_rng(seed)
    points = rng.random((int(rng.integers(1, 40)), m)) * 1.3
    return np.round(points, 1) if seed % 3 == 0 else points


@settings(max_examples=1000, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 3))
def test_the_volume_is_that_of_moocore(seed, m):
    points, reference = random_set(seed, m), np.ones(m)

    assert hypervolume(points, reference) == pytest.approx(moocore.hypervolume(points, ref=reference), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 3))
def test_a_gain_is_the_difference_of_two_volumes(seed, m):
    front, reference = random_set(seed, m), np.ones(m)
    candidates = random_set(seed + 1, m) - 0.1

    gains = hypervolume_gains(candidates, front, reference)

    before = hypervolume(front, reference)
    expected = [hypervolume(np.vstack([front, candidate]), reference) - before for candidate in candidates]
    assert gains == pytest.approx(expected, abs=1e-12)


def test_no_points_dominate_nothing():
    assert hypervolume(np.empty((0, 3)), np.ones(3)) == 0.0
    assert hypervolume_gains(np.zeros((1, 3)), np.empty((0, 3)), np.ones(3)).tolist() == [1.0]


def test_points_beyond_the_reference_add_nothing():
    assert hypervolume(np.array([[0.5, 2.0]]), np.ones(2)) == 0.0


def test_four_dimensions_are_refused():
    with pytest.raises(BadRequest, match="2 or 3 dimensions"):
        hypervolume(np.ones((1, 4)), np.ones(4))
