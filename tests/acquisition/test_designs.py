"""Initial designs fill a space: one place in each part of every number, and spread over choices."""

import numpy as np
import pytest

from metaml.acquisition.candidates import SpaceCandidates
from metaml.acquisition.designs import gower, initial_design, thin, thinned
from metaml.spaces import Choice, Float, Space

NUMBERS = Space([Float("x", 0.0, 1.0, default=0.5), Float("y", 0.1, 10.0, default=1.0, log=True)])
MIXED = Space(
    [
        Choice("kind", ("a", "b", "c"), default="a"),
        Float("x", 0.0, 1.0, default=0.5, when=("kind", ("a",))),
        Float("y", 0.0, 1.0, default=0.5),
    ]
)


def cube_of(space):
    return SpaceCandidates(space).cube


def test_a_latin_hypercube_has_one_place_in_each_part():
    places = initial_design(cube_of(NUMBERS), 12, np.random.default_rng(0))

    assert all(sorted((column * 12).astype(int)) == list(range(12)) for column in places.T)


def test_a_thinned_design_is_further_apart_than_a_random_one():
    cube = cube_of(MIXED)

    def nearest(places):
        distances = gower(cube, places)
        np.fill_diagonal(distances, np.inf)
        return distances.min()

    kept, drawn = thinned(cube, 15, np.random.default_rng(0)), cube.sample(15, np.random.default_rng(0))
    assert len(kept) == 15
    assert nearest(kept) > 2 * nearest(drawn)


def test_a_parameter_that_only_one_place_has_makes_them_differ():
    cube = cube_of(MIXED)
    places = cube.places([{"kind": "a", "x": 0.5, "y": 0.5}, {"kind": "b", "y": 0.5}, {"kind": "b", "y": 0.7}])

    distances = gower(cube, places)

    assert distances[0, 1] == pytest.approx(2 / 3)
    assert distances[1, 2] == pytest.approx(0.2 / 3)


def test_of_the_two_nearest_places_one_is_left_out_each_time():
    rows = np.round(np.random.default_rng(0).random((40, 2)), 1)
    distances = np.abs(rows[:, np.newaxis] - rows).mean(axis=2)

    kept = thin(distances, 8, np.random.default_rng(0))

    rng, left = np.random.default_rng(0), np.arange(40)
    while len(left) > 8:
        apart = distances[np.ix_(left, left)] + np.diag(np.full(len(left), np.inf))
        nearest = apart.min(axis=1)
        left = np.delete(left, rng.choice(np.flatnonzero(nearest <= nearest.min() + 1e-12)))
    assert kept.tolist() == left.tolist()
