"""RAMBO: batches by priority, packed by predicted seconds."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.search.bandit_search import Search
from metaml.search.optimizer import Optimizer, Option, Proposal
from metaml.search.schedules import Rambo, Turn, by_spread_priority, choose_batch, job_seconds, schedule_named
from metaml.spaces import Float, Space
from tests.search.told import Told

SPACE = Space([Float("x", 0.0, 1.0, default=0.5)])


def option(x: float, width: float, seconds: float | None = 1.0, algorithm: str = "svm") -> Option:
    return Option(algorithm, Proposal({"x": x}, "gbqr"), np.array([x]), width, seconds)


def test_the_first_candidate_has_a_worker_for_itself_and_its_seconds_are_the_time_of_all():
    seconds = np.array([4.0, 5.0, 3.0, 1.0, 2.0, 2.0])

    batch = choose_batch(seconds, 3)

    assert batch == [0, 2, 3, 4, 5]


def test_one_worker_gets_one_job():
    assert choose_batch(np.array([4.0, 1.0]), 1) == [0]


def test_of_similar_candidates_the_best_comes_first_and_the_others_after_all_clusters():
    near = [option(0.10, 0.1), option(0.11, 0.2), option(0.12, 0.3)]
    far = [option(0.90, 5.0)]

    ordered = by_spread_priority([*near, *far], 2)

    assert [one.proposal.config["x"] for one in ordered] == [0.10, 0.90, 0.11, 0.12]


def test_candidates_of_different_algorithms_are_never_similar():
    ordered = by_spread_priority([option(0.1, 0.1), option(0.1, 0.2), option(0.1, 3.0, algorithm="mlp")], 2)

    assert [one.algorithm for one in ordered] == ["svm", "mlp", "svm"]


def test_a_candidate_without_predicted_seconds_counts_as_the_usual_one():
    assert job_seconds([option(0, 0, 2.0), option(0, 0, None), option(0, 0, 4.0)]).tolist() == [2.0, 3.0, 4.0]


def searching(n_known: int) -> Search:
    optimizer = Optimizer(SPACE, strategy="gbqr", metric="accuracy", seed=0)
    search = Search({"svm": optimizer}, "round_robin")
    for x in np.linspace(0.0, 1.0, n_known):
        # What is far from the best takes long.
        search.resume(
            "svm", {"x": float(x)}, Told(scores={"accuracy": [-((x - 0.7) ** 2)]}, seconds=1 + 20 * abs(x - 0.7))
        )
    return search


def test_a_batch_is_as_long_as_its_longest_job_and_no_worker_is_idle():
    search = searching(30)

    batch = Rambo().ask(search, Turn(4, 0))

    seconds = [trial.proposal.seconds for trial in batch]
    assert len(batch) >= 4
    assert seconds == sorted(seconds, reverse=True)
    assert sum(seconds) <= 4 * seconds[0] + 1e-9


def test_the_next_batch_waits_for_the_last_job_of_this_one():
    search = searching(10)
    Rambo().ask(search, Turn(2, 0))

    assert Rambo().ask(search, Turn(2, 1)) == []


def test_a_batch_is_not_larger_than_the_evaluations_left():
    assert len(Rambo().ask(searching(30), Turn(4, 0, most=2))) == 2


def test_an_unknown_schedule_is_refused():
    with pytest.raises(BadRequest, match=r"No schedule is named 'fifo'\. Choose one of asynchronous, rambo\."):
        schedule_named("fifo")
