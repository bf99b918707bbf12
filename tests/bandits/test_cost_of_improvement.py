"""The estimated cost of improvement, against values computed by hand."""

import numpy as np
import pytest

from metaml.bandits import Histories
from metaml.bandits.cost_of_improvement import CostOfImprovement, improvement_costs


def test_the_leader_needs_the_longer_of_its_last_two_waits():
    histories = Histories.of([[0.0, 0.5, 1.0, 0.2]], seconds=[[1.0, 2.0, 3.0, 4.0]])

    costs = improvement_costs(histories)

    # improved after 1, 3 and 6 seconds, 10 spent: max(6 - 3, 10 - 6)
    assert costs == pytest.approx([4.0])


def test_an_arm_behind_must_close_the_gap_first():
    histories = Histories.of([[1.0], [0.0, 0.5]], seconds=[[1.0], [2.0, 3.0]])

    costs = improvement_costs(histories)

    # gained .5 in the 3 seconds since its improvement before last: twice .5 / (.5 / 3) = 6 seconds
    assert costs == pytest.approx([1.0, 6.0])


def test_an_arm_that_gained_nothing_keeps_a_small_chance():
    histories = Histories.of([[1.0], [0.0, 0.0]], seconds=[[1.0], [2.0, 3.0]])

    costs = improvement_costs(histories)

    assert costs == pytest.approx([1.0, 50.0])


def test_seconds_can_be_left_out_of_account():
    histories = Histories.of([[0.0, 0.5, 1.0, 0.2]], seconds=[[1.0, 2.0, 3.0, 4.0]])

    costs = improvement_costs(histories, in_seconds=False)

    assert costs == pytest.approx([1.0])


def test_of_two_equal_arms_the_cheaper_is_pulled_more_often():
    rng = np.random.default_rng(0)
    rewards = [[0.0, 1.0], [0.0, 1.0]]

    chosen = [CostOfImprovement().choose(rewards, rng, seconds=[[1, 1], [4, 4]]) for _ in range(300)]

    assert np.mean(chosen) == pytest.approx(0.2, abs=0.08)
