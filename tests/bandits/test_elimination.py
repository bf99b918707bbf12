"""Policies that drop arms: successive halving and rising bandits."""

import numpy as np
import pytest

from metaml.bandits import Histories
from metaml.bandits.rising import Rising, upper_bounds
from metaml.bandits.successive_halving import SuccessiveHalving, survivors


def test_each_rung_gets_an_equal_share_of_the_rounds():
    rng = np.random.default_rng(0)
    rewards: list[list[float]] = [[], [], [], []]

    for made in range(48):
        arm = SuccessiveHalving().choose(rewards, rng, rounds_left=48 - made)
        rewards[arm].append(arm + rng.random())

    # 16 rounds each: 4 x 4, then 2 x 8, then 1 x 16.
    assert [len(arm) for arm in rewards] == [4, 4, 12, 28]


def test_the_arms_with_the_best_maxima_survive():
    histories = Histories.of([[0.9, 0.1], [0.5, 0.6], [0.2, 0.3], [0.1, 0.8]], rounds_left=16)

    assert survivors(histories) == [0, 3]


def test_rewards_after_a_rung_do_not_change_who_survived_it():
    late_peak = [[0.9, 0.1], [0.5, 0.6, 1.0], [0.2, 0.3], [0.1, 0.8]]

    histories = Histories.of(late_peak, rounds_left=15)

    assert survivors(histories) == [0, 3]


def test_rising_bound_extends_the_last_slope_over_the_rounds_left():
    histories = Histories.of([[0.0, 0.2, 0.4, 0.3], [1.0]], rounds_left=10)

    bounds = upper_bounds(histories, window=2)

    # best so far 0, .2, .4, .4: slope (.4 - .2) / 2 over 10 rounds; the other arm is too young for a bound
    assert bounds == pytest.approx([1.4, np.inf])


def test_an_arm_that_cannot_catch_up_is_out():
    flat = [0.3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    leader = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]

    arm = Rising().choose([flat, leader], np.random.default_rng(0), rounds_left=30)

    assert arm == 1


def test_an_arm_that_still_rises_stays_in_the_race():
    slow = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    leader = [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 1.0]

    arm = Rising().choose([slow, leader], np.random.default_rng(0), rounds_left=30)

    assert arm == 0
