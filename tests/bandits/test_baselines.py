"""The policies every other one must beat."""

import numpy as np
import pytest

from metaml.bandits.always import Always
from metaml.bandits.best_first import BestFirst
from metaml.bandits.round_robin import RoundRobin
from metaml.bandits.uniform import Uniform
from metaml.errors import BadRequest


def test_uniform_picks_each_arm_about_equally_often():
    rng = np.random.default_rng(0)

    counts = np.bincount([Uniform().choose([[0.1], [0.9], [0.5]], rng) for _ in range(600)])

    assert counts.min() > 150


def test_round_robin_gives_each_arm_one_pull_per_cycle():
    rng = np.random.default_rng(0)
    rewards: list[list[float]] = [[], [], []]

    for _ in range(12):
        rewards[RoundRobin().choose(rewards, rng)].append(rng.random())

    assert [len(arm) for arm in rewards] == [4, 4, 4]


def test_best_first_stays_with_the_first_impression():
    arm = BestFirst().choose([[0.8, 0.0], [0.7, 1.0]], np.random.default_rng(0))

    assert arm == 0


def test_best_first_does_not_waver_between_equal_first_impressions():
    rng = np.random.default_rng(0)

    chosen = {BestFirst().choose([[0.8], [0.8, 0.1]], rng) for _ in range(20)}

    assert chosen == {1}


def test_always_never_looks_at_another_arm():
    assert Always(arm=1).choose([[], [0.1], []], np.random.default_rng(0)) == 1


def test_always_refuses_an_arm_that_is_not_there():
    with pytest.raises(BadRequest, match="no arm 3 among 2"):
        Always(arm=3).choose([[], []], np.random.default_rng(0))
