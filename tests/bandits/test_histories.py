"""Histories put rewards of any unit, and failures, on one scale."""

import numpy as np
import pytest

from metaml.bandits import Histories, with_pending
from metaml.errors import BadRequest

NAN = float("nan")


def test_rewards_are_scaled_over_all_arms():
    histories = Histories.of([[10.0, 20.0], [30.0]])

    assert [arm.tolist() for arm in histories.rewards] == [[0.0, 0.5], [1.0]]
    assert histories.span == 20.0


@pytest.mark.parametrize("failure", [NAN, float("-inf"), float("inf")])
def test_a_failure_is_a_pull_with_the_worst_reward(failure):
    histories = Histories.of([[failure, 0.9], [0.8]])

    assert [arm.tolist() for arm in histories.rewards] == [[0.0, 1.0], [0.0]]
    assert histories.pulls.tolist() == [2, 1]


def test_a_success_beats_a_failure_even_when_all_successes_are_equal():
    histories = Histories.of([[NAN], [0.8, 0.8]])

    assert [arm.tolist() for arm in histories.rewards] == [[0.0], [1.0, 1.0]]


def test_nothing_but_failures_gives_zeros():
    histories = Histories.of([[NAN], [NAN, NAN]])

    assert [arm.tolist() for arm in histories.rewards] == [[0.0], [0.0, 0.0]]


def test_equal_rewards_stay_equal_whatever_the_unit():
    raw = [[0.1, 0.3], [0.3, 0.7]]

    histories = Histories.of([[1e6 * reward + 17 for reward in arm] for arm in raw])

    assert histories.rewards[0][1] == histories.rewards[1][0]


def test_unknown_seconds_count_as_the_longest_known():
    histories = Histories.of([[0.1, 0.2], [0.3]], seconds=[[2.0, NAN], [5.0]])

    assert [arm.tolist() for arm in histories.seconds] == [[2.0, 5.0], [5.0]]


def test_without_seconds_every_pull_costs_one():
    histories = Histories.of([[0.1, 0.2], [0.3]])

    assert [arm.tolist() for arm in histories.seconds] == [[1.0, 1.0], [1.0]]


@pytest.mark.parametrize(("n_pulls", "expected"), [(0, 50), (49, 1), (50, 50), (120, 80)])
def test_an_unknown_horizon_doubles_when_it_is_reached(n_pulls, expected):
    histories = Histories.of([[0.5] * n_pulls])

    assert histories.rounds_left == expected


def test_seconds_of_another_shape_are_refused():
    with pytest.raises(BadRequest, match="one number of seconds per reward"):
        Histories.of([[0.1, 0.2]], seconds=[[1.0]])


def test_no_arm_is_refused():
    with pytest.raises(BadRequest, match="no arm"):
        Histories.of([])


def test_evaluations_in_flight_are_believed_to_give_the_median():
    believed = with_pending([[0.5, NAN, 0.9], [0.2]], pending=[2, 0])

    np.testing.assert_equal(believed, [[0.5, NAN, 0.9, 0.7, 0.7], [0.2]])
