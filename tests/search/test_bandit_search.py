"""The search: a bandit over optimizers that depends on events only."""

import pytest

from metaml.errors import BadRequest
from metaml.search.bandit_search import Search
from metaml.search.optimizer import Optimizer
from metaml.spaces import Float, Space
from tests.search.told import Told


def searching(seed: int = 0, policy: str = "decreasing_epsilon_max", **plan) -> Search:
    space = Space([Float("x", 0.0, 1.0, default=0.5)])
    names = ("good", "poor")
    return Search(
        {
            name: Optimizer(space, strategy="gbqr", starts=[space.default()], metric="accuracy", seed=seed)
            for name in names
        },
        policy,
        seed=seed,
        **plan,
    )


def play(search: Search, n: int) -> list[tuple[str, float]]:
    asked = []
    for _ in range(n):
        choice = search.ask(rounds_left=n - len(asked))
        config = choice.proposal.config
        level = {"good": 0.9, "poor": 0.2}[choice.algorithm]
        score = level - 0.1 * abs(float(config["x"]) - 0.3)
        search.tell(choice.algorithm, config, Told(scores={"accuracy": [score]}))
        asked.append((choice.algorithm, float(config["x"])))
    return asked


def test_every_algorithm_starts_with_its_default_in_the_given_order():
    assert play(searching(), 2) == [("good", 0.5), ("poor", 0.5)]


def test_the_initial_design_comes_first_and_is_not_repeated():
    search = searching(initial_design=[("poor", {"x": 0.1}), ("poor", {"x": 0.2}), ("good", {"x": 0.9})])

    asked = play(search, 8)

    assert asked[:3] == [("poor", 0.1), ("poor", 0.2), ("good", 0.9)]
    assert len(set(asked)) == 8
    assert not search.is_in_initial_design


def test_an_initial_design_can_be_ended():
    search = searching(initial_design=[("poor", {"x": 0.1}), ("poor", {"x": 0.2})])
    play(search, 1)

    search.end_initial_design()

    assert play(search, 1) == [("good", 0.5)]


def test_an_algorithm_joins_when_its_time_has_come():
    asked = [name for name, _ in play(searching(joins={"poor": 5}), 6)]

    assert asked == ["good"] * 5 + ["poor"]


def test_the_better_algorithm_gets_more():
    asked = [name for name, _ in play(searching(), 30)]

    assert asked.count("good") > asked.count("poor")


def test_the_same_events_give_the_same_proposals():
    assert play(searching(seed=3), 12) == play(searching(seed=3), 12)
    assert play(searching(seed=3), 12) != play(searching(seed=4), 12)


def test_open_evaluations_do_not_crowd_one_arm():
    search = searching()

    first = [search.ask().algorithm for _ in range(2)]

    assert first == ["good", "poor"]


def test_failures_and_partial_runs_are_pulls_that_gave_nothing():
    search = searching()
    for status in ("timeout", "partial"):
        choice = search.ask()
        scores = {"accuracy": [0.99]} if status == "partial" else {}
        search.tell(choice.algorithm, choice.proposal.config, Told(status, scores))

    assert sum(len(arm.rewards) for arm in search.arms.values()) == 2
    assert all(arm.optimizer.best is None for arm in search.arms.values())


def test_a_dropped_evaluation_is_forgotten():
    search = searching()
    choice = search.ask()

    search.drop(choice.algorithm, choice.proposal.config)

    again = search.ask()
    assert (again.algorithm, again.proposal.config) == (choice.algorithm, choice.proposal.config)


def test_an_unknown_bandit_is_refused():
    with pytest.raises(BadRequest, match="no bandit 'luck'"):
        searching(policy="luck")


def many(n: int = 6) -> Search:
    """A search over `n` algorithms, the first of which is the best, each tried once."""
    space = Space([Float("x", 0.0, 1.0, default=0.5)])
    names = [f"algorithm {k}" for k in range(n)]
    search = Search({name: Optimizer(space, strategy="random", metric="accuracy") for name in names}, "round_robin")
    for k in range(n):
        choice = search.ask()
        search.tell(choice.algorithm, choice.proposal.config, Told(scores={"accuracy": [1.0 - 0.1 * k]}))
    return search


def test_with_few_evaluations_left_the_better_half_gets_most():
    search = many()

    asked = [search.ask(rounds_left=20).algorithm for _ in range(12)]

    poor = [name for name in asked if name in ("algorithm 3", "algorithm 4", "algorithm 5")]
    assert len(poor) <= 2


def test_with_many_evaluations_left_every_algorithm_gets_some():
    search = many()

    asked = {search.ask(rounds_left=1000).algorithm for _ in range(12)}

    assert len(asked) == 6


def test_a_bandit_remembers_which_algorithms_improve_late():
    curves = {"good": [[0.5, 0.5, 0.5, 0.5]], "poor": [[0.0, 0.0, 0.0, 5.0]]}
    opening = [("good", {"x": 0.5}), ("poor", {"x": 0.5})]

    plain = searching(policy="curve_thompson", initial_design=opening, is_timed=False)
    remembering = searching(policy="curve_thompson", initial_design=opening, curves=curves, is_timed=False)

    assert play(plain, 6)[2][0] == "good"
    assert play(remembering, 6)[2][0] == "poor"
