"""Policies that rank arms by an optimistic bound, against values computed by hand."""

import numpy as np
import pytest

from metaml.bandits import Histories
from metaml.bandits.max_ucb import MaxUCB, max_ucb_bounds
from metaml.bandits.threshold_ascent import ThresholdAscent, chernoff_bounds
from metaml.bandits.ucb1 import ucb1_bounds
from metaml.bandits.ucb1_tuned import ucb1_tuned_bounds


def test_ucb1_equals_the_value_computed_by_hand():
    histories = Histories.of([[0.0, 1.0], [0.5]])

    bounds = ucb1_bounds(histories)

    # t = 3: 0.5 + sqrt(2 * 1.098612 / 2) = 0.5 + 1.048147, and 0.5 + sqrt(2 * 1.098612)
    assert bounds == pytest.approx([1.548147, 1.982304], abs=1e-6)


def test_ucb1_tuned_takes_a_quarter_where_the_variance_is_uncertain():
    histories = Histories.of([[0.0, 1.0], [0.5, 0.5]])

    bounds = ucb1_tuned_bounds(histories)

    # t = 4: 0.5 + sqrt(1.386294 / 2 * 0.25) = 0.5 + 0.416277 for both
    assert bounds == pytest.approx([0.916277, 0.916277], abs=1e-6)


def test_ucb1_tuned_subtracts_the_square_of_the_mean():
    histories = Histories.of([[0.5] * 400, [0.0, 1.0]])

    bounds = ucb1_tuned_bounds(histories)

    # ln 402 = 5.996452, V = 0 + sqrt(2 * 5.996452 / 400) = 0.173154, 0.5 + sqrt(5.996452 / 400 * 0.173154)
    assert bounds[0] == pytest.approx(0.550949, abs=1e-6)


def test_max_ucb_equals_the_value_computed_by_hand():
    histories = Histories.of([[0.0, 1.0], [0.5]])

    bounds = max_ucb_bounds(histories, alpha=0.5)

    # 1 + (0.5 * 1.098612 / 2)^2 and 0.5 + (0.5 * 1.098612)^2
    assert bounds == pytest.approx([1.075434, 0.801737], abs=1e-6)


def test_max_ucb_prefers_one_high_reward_to_many_good_ones():
    arm = MaxUCB().choose([[0.8] * 10, [0.0] * 9 + [1.0]], np.random.default_rng(0))

    assert arm == 1


def test_chernoff_bound_equals_the_value_computed_by_hand():
    bounds = chernoff_bounds(np.array([0.5]), np.array([4]), confidence=2.0)

    # 0.5 + (2 + sqrt(2 * 4 * 0.5 * 2 + 4)) / 4 = 0.5 + (2 + 3.464102) / 4
    assert bounds == pytest.approx([1.866025], abs=1e-6)


def test_threshold_ascent_counts_the_top_rewards_only():
    steady, peaks = [0.6] * 10, [0.0, 1.0] * 5

    arm = ThresholdAscent(top=5).choose([steady, peaks], np.random.default_rng(0))

    assert arm == 1
