"""A committee in which the meta-learner has a vote."""

import numpy as np
import pytest

from metaml.acquisition.committee import Committee, Expert
from metaml.metalearning.blending import BlendedCommittee
from metaml.search.strategy import STRATEGIES

ROWS = np.random.default_rng(0).random((30, 2))
SCORES = -np.abs(ROWS[:, 0] - 0.5)
UNKNOWN = np.full(30, np.nan)


def first(rows):
    """Return the first column as the prediction of a meta-learner."""
    return rows[:, 0]


def values_of(committee, n):
    committee.fit(ROWS[:n], SCORES[:n], UNKNOWN[:n], 0)
    return committee.values(committee.parts(ROWS))


def test_the_vote_of_the_meta_learner_falls_with_every_evaluation():
    def agreement(n):
        blended = values_of(BlendedCommittee(first, STRATEGIES["gbqr"]), n)
        return float(np.corrcoef(blended, first(ROWS))[0, 1])

    assert agreement(2) > agreement(8)


def test_a_meta_learner_that_is_wrong_loses_its_vote():
    committee = BlendedCommittee(lambda rows: np.abs(rows[:, 0] - 0.5), STRATEGIES["gbqr"])

    blended, alone = values_of(committee, 20), values_of(Committee(STRATEGIES["gbqr"]), 20)

    assert committee.share_ == 0.0
    assert np.array_equal(np.argsort(blended, kind="stable"), np.argsort(alone, kind="stable"))


@pytest.mark.parametrize("cost", [None, "bound_per_log_second"])
def test_seconds_and_votes_are_told_apart(cost):
    committee = BlendedCommittee(first, (Expert("gbqr", "upper_bound"),), cost=cost)
    committee.fit(ROWS, SCORES, np.linspace(1.0, 9.0, 30), 0)

    parts = committee.parts(ROWS)

    assert np.isfinite(committee.values(parts)).all()
    assert np.isfinite(committee.bounds(parts, 2.0)).all()
    assert (committee.believe(ROWS[0]).seconds is None) == (cost is None)
