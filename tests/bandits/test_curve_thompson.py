"""KB curves tell how much an arm may still improve."""

import numpy as np

from metaml.bandits import POLICIES
from metaml.bandits.curve_thompson import CurveThompson, gain

FLAT = [0.5, 0.5, 0.5, 0.5]
LATE = [0.1, 0.1, 0.1, 0.9]


def test_an_arm_that_used_to_improve_late_beats_a_better_one_that_did_not():
    policy = CurveThompson(curves=[[FLAT], [LATE]])

    arm = policy.choose([[0.7], [0.4]], np.random.default_rng(0), rounds_left=3)

    assert arm == 1


def test_what_lies_behind_the_budget_does_not_count():
    policy = CurveThompson(curves=[[FLAT], [LATE]])

    arm = policy.choose([[0.7], [0.4]], np.random.default_rng(0), rounds_left=2)

    assert arm == 0


def test_one_data_set_is_drawn_for_each_arm():
    policy = CurveThompson(curves=[[FLAT], [FLAT, LATE]])
    rng = np.random.default_rng(0)

    chosen = [policy.choose([[0.7], [0.4]], rng, rounds_left=3) for _ in range(200)]

    assert 60 < sum(chosen) < 140


def test_rewards_and_curves_may_change_their_unit_together():
    policy = CurveThompson(curves=[[[1000 * v for v in FLAT]], [[1000 * v for v in LATE]]])

    arm = policy.choose([[700.0], [400.0]], np.random.default_rng(0), rounds_left=3)

    assert arm == 1


def test_an_arm_without_curves_borrows_those_of_the_others():
    policy = CurveThompson(curves=[[LATE]])

    arm = policy.choose([[0.4], [0.7]], np.random.default_rng(0), rounds_left=3)

    assert arm == 1


def test_without_a_kb_it_is_the_cost_of_improvement():
    rewards = [[0.3, 0.8], [0.6, 0.7]]

    with_nothing = [CurveThompson().choose(rewards, np.random.default_rng(i)) for i in range(20)]
    cost = POLICIES["cost_of_improvement"]()

    assert with_nothing == [cost.choose(rewards, np.random.default_rng(i)) for i in range(20)]


def test_a_curve_that_is_too_short_stays_flat():
    assert gain([*FLAT[:2], 0.75], n_pulls=5, n_more=10) == 0.0
