"""What every registered schedule promises."""

import pytest

from metaml.search.bandit_search import Search
from metaml.search.optimizer import Optimizer
from metaml.search.schedules import DEFAULT_SCHEDULE, SCHEDULES, Turn, schedule_named
from metaml.spaces import Choice, Float, Space
from tests.search.told import Told

SPACE = Space([Float("x", 0.0, 1.0, default=0.5), Choice("kind", ("plain", "odd"), default="plain")])


def searching(**plan) -> Search:
    optimizers = {
        name: Optimizer(SPACE, strategy="gbqr", starts=[SPACE.default()], metric="accuracy", seed=1)
        for name in ("quick", "slow")
    }
    return Search(optimizers, "round_robin", seed=1, **plan)


def outcome_of(algorithm: str, config) -> Told:
    seconds = (1.0 if algorithm == "quick" else 5.0) * (0.5 + float(config["x"]))
    return Told(scores={"accuracy": [1.0 - abs(float(config["x"]) - 0.3)]}, seconds=seconds)


def play(name: str, n_workers: int, n: int, **plan) -> list[tuple[str, float, str]]:
    """Return `n` evaluations of a search whose jobs end in the order in which they began."""
    search, schedule, opened, asked = searching(**plan), schedule_named(name), [], []
    while len(asked) < n or opened:
        while len(opened) < n_workers and len(asked) < n:
            more = schedule.ask(search, Turn(n_workers, len(opened), n - len(asked), n - len(asked)))
            if not more:
                assert opened
                break
            opened += more
            asked += more
        trial = opened.pop(0)
        search.tell(trial.algorithm, trial.proposal.config, outcome_of(trial.algorithm, trial.proposal.config))
    return [(trial.algorithm, float(trial.proposal.config["x"]), trial.proposal.config["kind"]) for trial in asked]


def test_the_default_is_registered():
    assert DEFAULT_SCHEDULE in SCHEDULES


@pytest.mark.parametrize("n_workers", [1, 3])
@pytest.mark.parametrize("name", SCHEDULES)
def test_as_many_evaluations_are_chosen_as_are_wanted_and_none_twice(name, n_workers):
    asked = play(name, n_workers, 20)

    assert len(asked) == len(set(asked)) == 20


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_same_search_gets_the_same_choices(name):
    assert play(name, 3, 16) == play(name, 3, 16)


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_initial_design_comes_first(name):
    design = [("slow", {"x": 0.1, "kind": "odd"}), ("quick", {"x": 0.9, "kind": "odd"})]

    asked = play(name, 2, 6, initial_design=design)

    assert asked[:2] == [("slow", 0.1, "odd"), ("quick", 0.9, "odd")]


@pytest.mark.parametrize("name", SCHEDULES)
def test_failures_do_not_stop_it(name):
    search, schedule = searching(), schedule_named(name)

    for _ in range(4):
        for trial in schedule.ask(search, Turn(2, 0)):
            search.tell(trial.algorithm, trial.proposal.config, Told("crashed", {}, 0.0))

    assert schedule.ask(search, Turn(2, 0))
