"""A committee of surrogates: ranks, costs and beliefs."""

import numpy as np
import pytest

from metaml.acquisition.committee import Committee, Expert, mean_ranks
from metaml.errors import BadRequest

rng = np.random.default_rng(0)
ROWS = rng.random((20, 2))
SCORES = 0.8 + 0.1 * ROWS[:, 0]
UNKNOWN = np.full(20, np.nan)
EXPERTS = (Expert("gaussian_process", "log_expected_improvement", is_noisy=True), Expert("gbqr", "upper_bound"))


def test_ties_share_the_mean_of_their_ranks():
    assert mean_ranks(np.array([5.0, 1.0, 5.0, 7.0])).tolist() == [0.5, 0.0, 0.5, 1.0]


def test_one_expert_decides_alone():
    committee = Committee(EXPERTS[1:]).fit(ROWS, SCORES, UNKNOWN, seed=0)
    mean, std, upper, seconds = committee.parts(ROWS).T

    assert np.allclose(committee.values(np.column_stack([mean, std, upper, seconds])), upper)


def test_several_experts_average_their_ranks():
    alone = [Committee((expert,)).fit(ROWS, SCORES, UNKNOWN, seed=0) for expert in EXPERTS]
    together = Committee(EXPERTS).fit(ROWS, SCORES, UNKNOWN, seed=0)

    expected = np.mean([mean_ranks(one.values(one.parts(ROWS))) for one in alone], axis=0)

    assert np.allclose(together.values(together.parts(ROWS)), expected)


def test_what_a_row_is_worth_does_not_depend_on_when_it_was_looked_at():
    committee = Committee(EXPERTS, cost="bound_per_relative_cost").fit(ROWS, SCORES, 1 + ROWS[:, 1], seed=0)

    at_once = committee.values(committee.parts(ROWS))
    in_turn = committee.values(np.vstack([committee.parts(ROWS[:15]), committee.parts(ROWS[15:])]))

    assert np.allclose(at_once, in_turn)


def test_beliefs_come_in_the_unit_of_the_scores():
    committee = Committee(EXPERTS).fit(ROWS, SCORES, UNKNOWN, seed=0)

    belief = committee.believe(ROWS[3])

    assert belief.score == pytest.approx(SCORES[3], abs=0.01)
    assert belief.seconds is None


def test_a_cost_rule_prefers_the_faster_of_equals():
    rows = np.vstack([ROWS, ROWS])
    rows[20:, 1] += 2.0
    seconds = np.where(rows[:, 1] > 1.5, 100.0, 1.0)
    committee = Committee((Expert("gbqr", "upper_bound"),), cost="bound_per_relative_cost")

    committee.fit(rows, np.tile(SCORES, 2), seconds, seed=0)
    fast, slow = committee.values(committee.parts(np.array([[0.95, 0.5], [0.95, 2.5], *ROWS[:9]])))[:2]

    assert fast > slow


def test_an_unknown_expert_is_refused():
    with pytest.raises(BadRequest, match="No surrogate is named 'oracle'"):
        Committee((Expert("oracle", "upper_bound"),))
