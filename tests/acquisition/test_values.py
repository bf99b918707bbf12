"""Acquisition values computed by hand."""

import numpy as np
import pytest

from metaml.acquisition import ACQUISITIONS, COST_ACQUISITIONS
from metaml.acquisition.expected_improvement import expected_improvement, log_expected_improvement
from metaml.acquisition.per_second import (
    bound_per_log_second,
    bound_per_relative_cost,
    improvement_per_log_second,
    improvement_per_second,
)
from metaml.acquisition.upper_bound import upper_bound
from metaml.surrogates.base import Prediction, normal_prediction


def belief(mean, std):
    return normal_prediction(np.atleast_1d(np.float64(mean)), np.atleast_1d(np.float64(std)))


def bounds(*upper):
    values = np.array(upper)
    return Prediction(mean=values, std=np.ones(len(values)), upper=values)


@pytest.mark.parametrize(
    ("mean", "std", "incumbent", "value"),
    [
        (0.0, 1.0, 0.0, 0.39894),  # phi(0)
        (1.0, 1.0, 0.0, 1.08332),  # Phi(1) + phi(1) = 0.84134 + 0.24197
        (0.5, 2.0, 1.5, 0.39559),  # z = -0.5: -1 * 0.30854 + 2 * 0.35207
        (2.0, 0.0, 1.5, 0.5),
        (1.0, 0.0, 1.5, 0.0),
    ],
)
def test_expected_improvement_is_equation_2_10(mean, std, incumbent, value):
    assert expected_improvement(belief(mean, std), incumbent)[0] == pytest.approx(value, abs=1e-5)


def test_xi_raises_the_bar_as_in_equation_4_1():
    assert expected_improvement(belief(1.0, 1.0), 0.5, xi=0.5)[0] == pytest.approx(0.39894, abs=1e-5)


def test_log_improvement_is_the_logarithm_where_both_can_be_computed():
    means = np.linspace(-8.0, 3.0, 12)
    beliefs = normal_prediction(means, np.full(12, 1.3))

    logarithms = log_expected_improvement(beliefs, 0.4)

    assert np.allclose(logarithms, np.log(expected_improvement(beliefs, 0.4)), rtol=1e-4)


def test_log_improvement_still_orders_the_hopeless():
    values = log_expected_improvement(normal_prediction(-np.array([9.9, 10.1, 40.0, 400.0]), np.ones(4)), 0.0)

    assert np.isfinite(values).all()
    assert (np.diff(values) < 0).all()


def test_upper_bound_is_the_bound():
    assert upper_bound(bounds(0.1, 0.7), 0.5).tolist() == [0.1, 0.7]


def test_improvement_per_second_divides_by_seconds():
    value = improvement_per_second(belief(0.0, 1.0), 0.0, np.array([2.0]))

    assert value[0] == pytest.approx(0.39894 / 2, abs=1e-5)


def test_improvement_per_log_second_is_positive_below_a_second():
    value = improvement_per_log_second(belief(0.0, 1.0), 0.0, np.array([0.5]))

    assert value[0] == pytest.approx(0.39894 / 0.405465, abs=1e-4)


def test_equation_5_2_divides_the_gain_over_the_median_by_log_seconds():
    seconds = np.array([np.e - 1, np.e - 1, np.e**2 - 1])

    values = bound_per_log_second(bounds(0.5, 0.7, 0.9), 0.0, seconds)

    assert values == pytest.approx([-0.2, 0.0, 0.1])


def test_equation_5_2_prefers_the_faster_of_two_equal_bounds_below_one_second():
    values = bound_per_log_second(bounds(0.9, 0.9, 0.1, 0.1, 0.1), 0.0, np.array([0.5, 0.01, 1.0, 0.5, 0.01]))

    assert values[1] > values[0]
    assert values[4] >= values[3] >= values[2]


def test_relative_cost_does_not_depend_on_the_unit_of_time():
    seconds = np.array([1.0, 2.0, 4.0])

    values = bound_per_relative_cost(bounds(0.5, 0.7, 0.9), 0.0, seconds)

    assert values[2] == pytest.approx(0.2 / np.log(3.0))
    assert values == pytest.approx(bound_per_relative_cost(bounds(0.5, 0.7, 0.9), 0.0, 60 * seconds))


def test_every_rule_gives_one_finite_value_for_each_row():
    beliefs = normal_prediction(np.array([0.1, 0.5, 0.9]), np.array([0.0, 0.1, 1.0]))
    seconds = np.array([1e-3, 1.0, 1e4])

    values = [rule(beliefs, 0.5) for rule in ACQUISITIONS.values()]
    values += [rule(beliefs, 0.5, seconds) for rule in COST_ACQUISITIONS.values()]

    assert all(v.shape == (3,) and np.isfinite(v).all() for v in values)
