"""Increasing effort (thesis 7.4), against values computed by hand."""

import numpy as np
import pytest

from metaml.bandits import Histories
from metaml.bandits.increasing_effort import IncreasingEffort, limit_quantile, required_quantiles

# Means .5, .5, .1; standard deviations .5, .3, .3; the optimum is 1.
WIDE = [0.0, 1.0]
MIDDLE = [0.2, 0.8, 0.2, 0.8]
RARE = [0.0] * 9 + [1.0]


def test_levels_are_ninety_then_ninety_five_then_ninety_seven_and_a_half_percent():
    quantiles = [limit_quantile(k) for k in range(3)]

    assert quantiles == pytest.approx([1.644854, 1.959964, 2.241403], abs=1e-6)


def test_required_quantiles_equal_those_computed_by_hand():
    required = required_quantiles(Histories.of([WIDE, MIDDLE, RARE]))

    assert required == pytest.approx([0.5 / 0.5, 0.5 / 0.3, 0.9 / 0.3])


def test_the_arm_within_the_ninety_percent_limit_is_picked_though_another_has_fewer_pulls():
    flat = [0.4]

    arm = IncreasingEffort().choose([WIDE * 3, [*flat, 0.41]], np.random.default_rng(0))

    assert arm == 0


def test_the_level_rises_until_there_is_a_candidate():
    # 1.667 is above the 90 % limit (1.645) and below that of 95 % (1.960); 3 is above both.
    arm = IncreasingEffort().choose([RARE, MIDDLE], np.random.default_rng(0))

    assert arm == 1


def test_among_candidates_the_least_pulled_wins():
    arm = IncreasingEffort().choose([WIDE * 3, WIDE * 2, WIDE * 4], np.random.default_rng(0))

    assert arm == 1


def test_arms_that_never_vary_take_turns():
    arm = IncreasingEffort().choose([[0.5] * 3, [0.5] * 2], np.random.default_rng(0))

    assert arm == 1
