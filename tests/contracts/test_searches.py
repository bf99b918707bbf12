"""What every registered search promises, whatever share of an evaluation it asks for."""

import math

import pytest

from metaml.acquisition.candidates import key_of
from metaml.encoding import Facts
from metaml.search.bandit_search import NextTrial, Search
from metaml.search.fidelity_search import DEFAULT_SEARCH, METHODS, SEARCHES
from metaml.search.plan import SearchPlan, build_search
from tests.search.told import Told

SHARES = (1 / 16, 1 / 4, 1.0)
every_search = pytest.mark.parametrize("name", SEARCHES)
with_looks = pytest.mark.parametrize("name", METHODS)


def plan_of(name: str, **changes: object) -> SearchPlan:
    fields = {
        "task": "binary",
        "facts": Facts(16_000, 4, 2),
        "metric": "accuracy",
        "algorithms": ("k_neighbors", "decision_tree"),
        "strategy": "default" if name in METHODS and METHODS[name].strategy else "gbqr",
        "bandit": "round_robin",
        "seed": 3,
        "is_timed": False,
        "search": name,
        "shares": (1.0,) if name == DEFAULT_SEARCH else SHARES,
    }
    return SearchPlan(**{**fields, **changes})


def score_of(choice: NextTrial) -> float:
    """Return a made-up score: the same order at every share, lower where there are few rows."""
    rank = int.from_bytes(key_of(choice.proposal.config).encode()[-12:], "big") % 1000 / 1000
    return rank - 0.5 * (1 - choice.share)


def told(choice: NextTrial) -> Told:
    status = "ok" if choice.share == 1.0 else "partial"
    return Told(status, {"accuracy": [score_of(choice)]}, seconds=10 * choice.share)


def play(search: Search, n: int, n_workers: int = 1) -> list[NextTrial]:
    """Return `n` evaluations whose jobs end in the order in which they began."""
    opened: list[NextTrial] = []
    asked: list[NextTrial] = []
    while len(asked) < n or opened:
        while len(opened) < n_workers and len(asked) < n:
            opened.append(search.ask(n - len(asked)))
            asked.append(opened[-1])
        done = opened.pop(0)
        search.tell(done.algorithm, done.proposal.config, told(done))
    return asked


def events(asked: list[NextTrial]) -> list[tuple[str, str, float]]:
    return [(choice.algorithm, key_of(choice.proposal.config), choice.share) for choice in asked]


@every_search
@pytest.mark.parametrize("n_workers", [1, 3])
def test_no_evaluation_is_asked_for_twice(name, n_workers):
    asked = events(play(build_search(plan_of(name), None), 30, n_workers))

    assert len(asked) == len(set(asked)) == 30


@every_search
def test_the_same_plan_asks_for_the_same_evaluations(name):
    assert events(play(build_search(plan_of(name), None), 25, 3)) == events(
        play(build_search(plan_of(name), None), 25, 3)
    )


@every_search
def test_a_plan_survives_json(name):
    plan = plan_of(name)

    assert SearchPlan.from_json(plan.as_json()) == plan


@every_search
def test_a_search_that_is_told_of_what_finished_goes_on_as_it_would_have(name):
    whole = play(build_search(plan_of(name), None), 24)

    resumed = build_search(plan_of(name), None)
    for done in whole[:14]:
        resumed.resume(done.algorithm, done.proposal.config, told(done), share=done.share)

    assert events(play(resumed, 10)) == events(whole[14:])


@every_search
def test_a_search_goes_on_after_an_evaluation_was_dropped(name):
    search = build_search(plan_of(name), None)
    play(search, 12)
    lost = search.ask(5)

    search.drop(lost.algorithm, lost.proposal.config)

    assert len(play(search, 12)) == 12


@with_looks
def test_a_promotion_that_was_dropped_is_asked_for_again(name):
    search = build_search(plan_of(name), None)
    while (lost := search.ask(5)).proposal.proposer != "promotion":
        search.tell(lost.algorithm, lost.proposal.config, told(lost))

    search.drop(lost.algorithm, lost.proposal.config)

    assert events([search.ask(5)]) == events([lost])


@every_search
def test_an_evaluation_that_is_still_under_way_is_not_asked_for_again(name):
    search, again = build_search(plan_of(name), None), build_search(plan_of(name), None)
    done = play(search, 12)
    lost = search.ask(5)

    for each in done:
        again.resume(each.algorithm, each.proposal.config, told(each), share=each.share)
    again.reopen(lost.algorithm, lost.proposal.config, share=lost.share)

    assert events([lost])[0] not in events(play(again, 8))


@every_search
def test_failures_do_not_stop_it(name):
    search = build_search(plan_of(name), None)
    for number in range(20):
        choice = search.ask(20 - number)
        outcome = told(choice) if number % 2 else Told("failed")
        search.tell(choice.algorithm, choice.proposal.config, outcome)

    assert {arm for arm, state in search.arms.items() if state.rewards} == {"k_neighbors", "decision_tree"}
    assert any(math.isfinite(reward) for state in search.arms.values() for reward in state.rewards)
