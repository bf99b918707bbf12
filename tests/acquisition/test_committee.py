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
    parts = committee.parts(ROWS)

    assert np.array_equal(committee.values(parts), parts[:, 0])


def test_several_experts_average_their_ranks():
    committee = Committee(EXPERTS).fit(ROWS, SCORES, UNKNOWN, seed=0)
    parts = committee.parts(ROWS)

    expected = (mean_ranks(parts[:, 0]) + mean_ranks(parts[:, 1])) / 2

    assert np.allclose(committee.values(parts), expected)


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
