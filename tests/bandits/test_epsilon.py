"""Greedy policies explore as often as they say."""

import numpy as np
import pytest

from metaml.bandits import Histories
from metaml.bandits.decreasing_epsilon import DecreasingEpsilon
from metaml.bandits.epsilon_greedy import EpsilonGreedy

STEADY_AND_PEAK = [[0.6, 0.6, 0.6], [0.0, 0.1, 1.0]]


@pytest.mark.parametrize(("by", "expected"), [("mean", 0), ("best", 1)])
def test_the_leader_is_judged_by_mean_or_by_maximum(by, expected):
    arm = EpsilonGreedy(epsilon=0.0, by=by).choose(STEADY_AND_PEAK, np.random.default_rng(0))

    assert arm == expected


def test_epsilon_is_the_share_of_random_choices():
    rng = np.random.default_rng(0)
    policy = EpsilonGreedy(epsilon=0.4)

    chosen = [policy.choose(STEADY_AND_PEAK, rng) for _ in range(1000)]

    assert np.mean(chosen) == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize(("rounds_left", "expected"), [(44, 0.88), (22, 22 / 28), (1, 1 / 7)])
def test_epsilon_falls_with_the_share_of_rounds_left(rounds_left, expected):
    histories = Histories.of(STEADY_AND_PEAK, rounds_left=rounds_left)

    assert DecreasingEpsilon().epsilon(histories) == pytest.approx(expected)
