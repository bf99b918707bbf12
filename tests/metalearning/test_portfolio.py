"""The portfolio, and the initial design made from it."""

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.metalearning.history import make_history
from metaml.metalearning.portfolio import Portfolio, shared, stretched
from tests.experienced import DESCRIBED, WANTED

DEFAULT = ALGORITHMS["k_neighbors"].space("multiclass").default()


def test_configurations_run_on_many_data_sets_keep_their_measured_levels(portfolio):
    defaults = [(name, ALGORITHMS[name].space("multiclass").default()) for name in WANTED.algorithms]

    assert all(default in portfolio.candidates for default in defaults)
    assert portfolio.levels.shape == (14, len(portfolio.candidates))
    assert portfolio.levels.min() == 0.0
    assert (portfolio.levels.max(axis=1) == 1.0).all()


def test_a_configuration_is_shared_if_several_data_sets_saw_it():
    configs = [{"x": 1}, {"x": 2}, {"x": 1}, {"x": 3}]
    runs = make_history(
        "toy", "accuracy", datasets=["a", "b"], groups=np.array([0, 0, 1, 1]), configs=configs, scores=np.arange(4.0)
    )

    assert shared(runs) == [{"x": 1}]


def test_a_portfolio_survives_saving_and_loading(portfolio):
    again = Portfolio.unpacked(*portfolio.packed(), n_taught=14)

    assert again.candidates == portfolio.candidates
    assert again.names == portfolio.names
    assert again.n_runs == portfolio.n_runs == 14 * 2 * 12
    assert again.n_taught == portfolio.n_taught
    assert np.allclose(again.levels, portfolio.levels)
    assert again.metafeatures.equals(portfolio.metafeatures.astype(np.float32).astype(float))


def test_seconds_grow_with_the_rows_and_are_those_of_the_runs(portfolio):
    few, many = (portfolio.seconds(DESCRIBED, n_rows=n, reference_seconds=None) for n in (700, 70_000))

    assert few == pytest.approx(np.full(len(few), 0.06), rel=1.0)
    assert (many >= few).all()


def test_an_unknown_level_is_the_mean_over_other_data_sets():
    levels = stretched(np.array([[0.0, 1.0, np.nan], [0.0, 1.0, 0.5], [0.0, 0.0, 4.0]]))

    assert levels[0].tolist() == [0.0, 1.0, 0.5]


def test_beyond_the_rows_of_its_runs_seconds_grow_as_the_algorithm_says(portfolio):
    most = portfolio.most_rows
    known, beyond = (portfolio.seconds(DESCRIBED, n_rows=n, reference_seconds=1.0) for n in (most, 10 * most))

    powers = [ALGORITHMS[name].row_power for name, _ in portfolio.candidates]
    assert beyond / known == pytest.approx(np.power(10.0, powers))
