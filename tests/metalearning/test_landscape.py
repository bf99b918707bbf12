"""The landscape: how scores vary over configurations on each data set."""

import numpy as np

from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import Landscape, make_landscape
from tests.metalearning.worlds import make_synthetic


def test_landscape_knows_each_data_set(landscape: Landscape, synthetic: RunHistory):
    rows = synthetic.encode([{"rate": rate, "word": "a"} for rate in (0.2, 0.9)])

    levels = landscape.levels_at(rows)

    assert levels.shape == (12, 2)
    assert levels[0, 0] > levels[0, 1]
    assert levels[11, 0] < levels[11, 1]


def test_components_multiply_to_the_covariance_over_data_sets(landscape: Landscape):
    _, components = landscape.at(landscape.grid)

    expected = np.cov(landscape.levels.T, bias=True)
    assert np.abs(components @ components.T - expected).max() < 1e-6


def test_flat_data_sets_have_no_landscape():
    world = make_synthetic(4, 10, lambda rate, n_rows: rate if n_rows > 10_000 else 0.5)

    found = make_landscape(world, n_grid=20)

    assert found.datasets == ("d2", "d3")


def test_guess_without_metafeatures_is_the_average(landscape: Landscape):
    assert not landscape.guess({}).any()
