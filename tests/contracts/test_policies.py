"""What every registered policy promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml.bandits import DEFAULT_POLICY, POLICIES

NAN = float("nan")
NAMES = sorted(POLICIES)
TRIES_ALL = sorted(set(POLICIES) - {"always"})

awkward = {
    "ties": [[0.5, 0.5, 0.5], [0.5, 0.5], [0.5]],
    "failures": [[NAN, 0.5, 0.7], [float("-inf")], [0.6, NAN]],
    "nothing but failures": [[NAN, NAN], [NAN], [NAN, NAN, NAN]],
    "one arm": [[0.1, 0.2, 0.3]],
    "a long constant arm": [[0.3] * 40, [0.1, 0.2], [0.9]],
    "tiny differences": [[0.5, 0.5 + 1e-14], [0.5, 0.5], [0.5 - 1e-14]],
    "huge values": [[1e300, -1e300], [0.0, 1.0], [5.0]],
    "only the ends": [[0.0, 1.0, 0.0], [1.0, 0.0], [0.0, 0.0]],
}

rewards_of_arms = st.lists(
    st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=1, max_size=8), min_size=1, max_size=4
)


def test_the_default_is_registered():
    assert DEFAULT_POLICY in POLICIES


@pytest.mark.parametrize("case", awkward)
@pytest.mark.parametrize("name", NAMES)
def test_copes_with_awkward_histories(name, case):
    rewards = awkward[case]
    rng = np.random.default_rng(0)

    chosen = [POLICIES[name]().choose(rewards, rng, rounds_left=left) for left in (0, 1, 30) for _ in range(5)]

    assert all(type(arm) is int and 0 <= arm < len(rewards) for arm in chosen)


@pytest.mark.parametrize("name", NAMES)
def test_plays_a_whole_session_with_seconds_and_without(name):
    for with_seconds in (False, True):
        rng = np.random.default_rng(1)
        rewards: list[list[float]] = [[], [], []]
        seconds: list[list[float]] = [[], [], []]

        for made in range(30):
            arm = POLICIES[name]().choose(
                rewards, rng, seconds=seconds if with_seconds else None, rounds_left=30 - made
            )
            rewards[arm].append(NAN if rng.random() < 0.2 else rng.random())
            seconds[arm].append(rng.exponential())

        assert sum(len(arm) for arm in rewards) == 30


@pytest.mark.parametrize("name", TRIES_ALL)
def test_tries_every_arm_once_first(name):
    rng = np.random.default_rng(0)
    rewards: list[list[float]] = [[], [], [], []]

    for _ in range(4):
        rewards[POLICIES[name]().choose(rewards, rng)].append(rng.random())

    assert [len(arm) for arm in rewards] == [1, 1, 1, 1]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(rewards=rewards_of_arms, rounds_left=st.integers(1, 40), seed=st.integers(0, 99))
def test_the_choice_follows_from_histories_and_generator_alone(name, rewards, rounds_left, seed):
    used = POLICIES[name]()
    used.choose([[0.9, 0.1], [0.4]], np.random.default_rng(5))

    resumed = POLICIES[name]().choose(rewards, np.random.default_rng(seed), rounds_left=rounds_left)

    assert used.choose(rewards, np.random.default_rng(seed), rounds_left=rounds_left) == resumed


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(
    rewards=rewards_of_arms,
    scale=st.sampled_from([1e-3, 0.25, 3.0, 1e4]),
    shift=st.sampled_from([-7.0, 0.0, 0.1, 100.0]),
    seed=st.integers(0, 99),
)
def test_the_unit_of_the_score_does_not_matter(name, rewards, scale, shift, seed):
    policy = POLICIES[name]()
    other_unit = [[scale * reward + shift for reward in arm] for arm in rewards]

    chosen = policy.choose(rewards, np.random.default_rng(seed))

    assert policy.choose(other_unit, np.random.default_rng(seed)) == chosen


@pytest.mark.parametrize("name", NAMES)
def test_the_histories_it_is_given_stay_as_they_are(name):
    rewards = [[0.2, NAN], [0.6, 0.7]]

    POLICIES[name]().choose(rewards, np.random.default_rng(0))

    np.testing.assert_equal(rewards, [[0.2, NAN], [0.6, 0.7]])
