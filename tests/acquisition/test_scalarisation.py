"""Weights that are drawn, and several objectives as one."""

import numpy as np
import pytest

from metaml.acquisition.scalarisation import draw_weights, tchebycheff


def test_weights_sum_to_one_and_follow_the_generator():
    weights = draw_weights(3, np.random.default_rng(1))

    assert weights.sum() == pytest.approx(1.0)
    assert np.array_equal(weights, draw_weights(3, np.random.default_rng(1)))


def test_a_weight_of_one_leaves_the_order_of_that_objective():
    costs = np.array([[0.2, 0.9], [0.3, 0.1]])

    assert tchebycheff(costs, np.array([1.0, 0.0])).argmin() == 0
