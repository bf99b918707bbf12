"""Where candidates come from: neighbours, focus search."""

import numpy as np
import pytest

from metaml.acquisition.candidate_search import SEARCHES, neighbours, shrink
from metaml.acquisition.cube import Cube
from metaml.encoding import Encoder
from metaml.spaces import Choice, Space
from tests.acquisition.kernels import CUBE, SPACE


class Near:
    """A judge that likes places near the given one."""

    def __init__(self, target):
        self.target = target

    def parts(self, places):
        return -np.abs(places - self.target).sum(axis=1, keepdims=True)

    def values(self, parts):
        return parts[:, 0]


def test_neighbours_differ_in_one_parameter_that_was_active():
    rng = np.random.default_rng(2)
    places = CUBE.sample(300, rng)

    near = neighbours(CUBE, places, rng)

    changed = 0
    for place, other in zip(places, near, strict=True):
        before, after = CUBE.config(place), CUBE.config(other)
        assert SPACE.is_valid(after)
        different = [name for name in before if name in after and before[name] != after[name]]
        assert len(different) <= 1
        changed += len(different)
    assert changed > 250


def test_neighbours_of_a_choice_take_another_choice():
    space = Space([Choice("c", ("a", "b", "d"), default="a")])
    cube = Cube(space, Encoder(unit=True).fit([], space=space))

    near = neighbours(cube, cube.places([{"c": "b"}] * 50), np.random.default_rng(0))

    assert {cube.config(place)["c"] for place in near} == {"a", "d"}


def test_focus_halves_a_range_around_the_best():
    low, high = shrink(np.array([0.0, 0.2]), np.array([1.0, 0.6]), np.array([0.5, 0.2]))

    assert low == pytest.approx([0.25, 0.2])
    assert high == pytest.approx([0.75, 0.3])


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_comes_near_what_is_wanted(name):
    rng = np.random.default_rng(3)
    target = np.full(CUBE.n_parameters, 0.5)
    judge = Near(target)

    places, parts = SEARCHES[name](CUBE, judge, CUBE.sample(3, rng), rng)

    assert len(places) == len(parts)
    assert judge.values(parts).max() > np.quantile(judge.values(judge.parts(CUBE.sample(2000, rng))), 0.99)


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_is_decided_by_its_generator(name):
    judge = Near(np.full(CUBE.n_parameters, 0.3))

    first, second = (SEARCHES[name](CUBE, judge, CUBE.places([]), np.random.default_rng(5))[0] for _ in range(2))

    assert np.array_equal(first, second)
