"""Policies are simulated on recorded arms."""

import numpy as np
import pytest

from metaml.bandits import POLICIES
from metaml.errors import BadRequest
from metaml.laboratory.arms import (
    Problem,
    RecordedArm,
    best_curves,
    gaps,
    gaps_over_seconds,
    make_problems,
    oracle_arm,
    play,
    play_seconds,
    record_arm,
)
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.simulate import Cell


def arm(*scores: float, seconds: float = 1.0) -> RecordedArm:
    return RecordedArm("a", np.array(scores), np.full(len(scores), seconds))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_an_arm_gives_its_evaluations_in_order_whatever_other_arms_are_pulled(rng):
    arms = [arm(0.1, 0.5, 0.2), arm(0.3, 0.4, 0.9)]

    played = play(POLICIES["round_robin"](), arms, n_rounds=4, rng=rng)

    assert sorted(played.chosen) == [0, 0, 1, 1]
    assert played.best.tolist()[:2] == [0.1, 0.3]
    assert played.best[-1] == 0.5


def test_a_used_up_arm_repeats_its_last_evaluation(rng):
    played = play(POLICIES["always"](), [arm(0.1, 0.5, 0.2)], n_rounds=5, rng=rng)

    assert played.best.tolist() == [0.1, 0.5, 0.5, 0.5, 0.5]
    assert played.spent.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_an_evaluation_that_does_not_finish_in_the_budget_is_lost(rng):
    played = play_seconds(POLICIES["always"](), [arm(0.1, 0.2, 0.9, seconds=2.0)], budget=5.0, rng=rng)

    assert played.best.tolist() == [0.1, 0.2]


def test_the_gap_is_a_mean_over_seeds_times_a_hundred():
    problem = Problem("d", 0.9, ((arm(0.5, 0.7),), (arm(0.6, 0.9),)))

    levels = gaps(lambda _: POLICIES["always"](), [problem], rounds=(1, 2))

    assert levels[1]["d"] == pytest.approx(35.0)
    assert levels[2]["d"] == pytest.approx(10.0)


def test_a_budget_too_short_for_any_result_leaves_the_worst_first_score():
    problem = Problem("d", 0.9, ((arm(0.5, seconds=9.0), arm(0.4, seconds=9.0)),))

    levels = gaps_over_seconds(lambda _: POLICIES["always"](), [problem], budgets={"d": 1.0})

    assert levels == {"d": pytest.approx(50.0)}


def test_a_problem_needs_a_pool_of_every_algorithm():
    def pool(dataset: str, algorithm: str) -> RecordedRuns:
        return RecordedRuns(dataset, algorithm, ({"x": 0}, {"x": 1}), np.array([0.2, 0.8]))

    pools = [pool("d", "a"), pool("d", "b"), pool("e", "a")]
    cells = [Cell("t", p.dataset, p.algorithm, "default", 0, (1, 0)) for p in pools]

    problems = make_problems(pools, cells)

    assert [problem.dataset for problem in problems] == ["d"]
    assert [a.name for a in problems[0].seeds[0]] == ["a", "b"]
    assert problems[0].optimum == 0.8


def test_a_recorded_arm_follows_the_order_with_its_seconds():
    pool = RecordedRuns("d", "a", ({"x": 0}, {"x": 1}), np.array([0.2, 0.8]), np.array([3.0, 4.0]))

    recorded = record_arm(pool, (1, 0))

    assert recorded.scores.tolist() == [0.8, 0.2]
    assert recorded.seconds.tolist() == [4.0, 3.0]


def test_curves_leave_the_data_set_itself_out():
    problems = [Problem("d", 1.0, ((arm(0.1, 0.9),),)), Problem("e", 1.0, ((arm(0.5, 0.3),),))]

    assert best_curves(problems, leave_out="d") == [[[0.5, 0.5]]]
    with pytest.raises(BadRequest, match="No data set is left"):
        best_curves(problems[:1], leave_out="d")


def test_the_oracle_knows_the_arm_that_ends_best():
    problem = Problem("d", 0.9, ((arm(0.8, 0.8), arm(0.1, 0.9)),))

    assert oracle_arm(problem, seed=0) == 1
