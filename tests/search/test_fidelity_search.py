"""Searches that look first: what is promoted, and what a look counts for."""

import numpy as np
import pytest

from metaml.acquisition.candidates import key_of
from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest
from metaml.search.fidelity_search import METHODS, check_search
from metaml.search.plan import build_search
from tests.contracts.test_searches import SHARES, events, plan_of, play, score_of

with_looks = pytest.mark.parametrize("name", METHODS)


@with_looks
def test_only_what_did_well_at_a_lower_share_is_evaluated_as_a_whole(name):
    search = build_search(plan_of(name), None)

    asked = play(search, 60)

    looks = [score_of(choice) + 0.5 * (1 - choice.share) for choice in asked if choice.share == SHARES[0]]
    promotions = [choice for choice in asked if choice.proposal.proposer == "promotion"]
    assert len(looks) > 20
    assert promotions
    assert all(choice.share > SHARES[0] for choice in promotions)
    assert min(score_of(choice) + 0.5 * (1 - choice.share) for choice in promotions) > float(np.median(looks)) - 0.25


@with_looks
def test_what_was_seen_at_a_low_share_counts_with_the_score_it_should_have_as_a_whole(name):
    search = build_search(plan_of(name), None)

    play(search, 40)
    search.ask(5)

    rewards = [reward for arm in search.arms.values() for reward in arm.rewards]
    assert min(rewards) >= -1e-9


@with_looks
def test_first_defaults_are_evaluated_as_a_whole(name):
    default = ALGORITHMS["decision_tree"].space("binary").default()
    search = build_search(plan_of(name, initial_design=(("decision_tree", default),)), None)

    assert events([search.ask(9)]) == [("decision_tree", key_of(default), 1.0)]


@with_looks
def test_without_room_for_a_look_everything_is_evaluated_as_a_whole(name):
    asked = play(build_search(plan_of(name, shares=(1.0,)), None), 12)

    assert {choice.share for choice in asked} == {1.0}


def test_hyperband_begins_at_every_share_and_halving_at_the_lowest():
    first = {name: play(build_search(plan_of(name), None), 30) for name in ("hyperband", "halving")}
    begun = {
        name: {choice.share for choice in asked if choice.proposal.proposer != "promotion"}
        for name, asked in first.items()
    }

    assert begun == {"hyperband": set(SHARES), "halving": {SHARES[0]}}


def test_choices_that_do_not_go_together_are_refused():
    with pytest.raises(BadRequest, match="default, hyperband, bohb, halving, look"):
        check_search("grid", strategy="default", schedule="asynchronous")
    with pytest.raises(BadRequest, match="--schedule rambo"):
        check_search("bohb", strategy="default", schedule="rambo")
    with pytest.raises(BadRequest, match="choose bohb"):
        check_search("hyperband", strategy="forest", schedule="asynchronous")
