"""Thompson sampling with continuous rewards follows eq. 2.24."""

import numpy as np
import pytest

from metaml.bandits import Histories
from metaml.bandits.thompson import Thompson, beta_shape, draw
from metaml.bandits.top_two_thompson import TopTwoThompson


@pytest.mark.parametrize(
    ("mean", "variance", "alpha", "beta"),
    [
        # (0.8/0.04 - 1/0.2) * 0.04 = 0.6, and 0.6 * (1/0.2 - 1) = 2.4
        (0.2, 0.04, 0.6, 2.4),
        # (0.25/0.0375 - 1/0.75) * 0.5625 = 3, and 3 * (1/0.75 - 1) = 1: beta(3, 1), variance 3/80
        (0.75, 0.0375, 3.0, 1.0),
        # the uniform distribution
        (0.5, 1 / 12, 1.0, 1.0),
    ],
)
def test_shapes_equal_those_computed_by_hand(mean, variance, alpha, beta):
    assert beta_shape(mean, variance) == pytest.approx((alpha, beta))


def test_draws_have_the_mean_and_the_variance_of_the_rewards():
    rewards = [[0.0, 1.0], [0.3, 0.5, 0.7, 0.5]]
    histories = Histories.of(rewards)
    rng = np.random.default_rng(0)

    draws = np.array([draw(histories, 3, rng)[1] for _ in range(4_000)])

    assert draws.mean() == pytest.approx(np.mean(rewards[1]), abs=0.01)
    assert draws.std() == pytest.approx(np.std(rewards[1]), abs=0.01)


def test_an_arm_of_unknown_variation_is_pulled():
    rng = np.random.default_rng(0)

    chosen = {Thompson().choose([[0.9, 1.0, 0.8], [0.0]], rng) for _ in range(20)}

    assert chosen == {1}


def test_an_arm_that_never_varies_loses_its_privilege():
    rng = np.random.default_rng(0)

    chosen = {Thompson().choose([[0.9, 1.0, 0.8], [0.0, 0.0, 0.0]], rng) for _ in range(20)}

    assert chosen == {0}


def test_rewards_at_both_ends_only_still_give_draws():
    histories = Histories.of([[0.0, 1.0], [0.0, 1.0]])

    draws = draw(histories, 3, np.random.default_rng(0))

    assert np.all((draws >= 0) & (draws <= 1))


def test_top_two_pulls_the_challenger_in_its_last_branch():
    rewards = [[1.0, 0.95, 0.9], [0.4, 0.5, 0.6], [0.0, 0.05, 0.1]]
    rng = np.random.default_rng(0)

    chosen = [TopTwoThompson(gamma=0.5).choose(rewards, rng) for _ in range(60)]

    assert np.bincount(chosen, minlength=3)[1] > 15


def test_top_two_with_gamma_one_is_thompson():
    rewards = [[1.0, 0.9, 0.2], [0.4, 0.5, 0.8]]

    top_two = [TopTwoThompson(gamma=1.0).choose(rewards, np.random.default_rng(i)) for i in range(30)]
    plain = [Thompson().choose(rewards, np.random.default_rng(i)) for i in range(30)]

    assert top_two == plain
