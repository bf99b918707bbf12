"""Simulated workers on recorded runs."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.laboratory.parallel import compare_schedules, simulate_workers, without_pattern
from metaml.laboratory.recorded_runs import RecordedRuns
from metaml.laboratory.simulate import OptimizerVariant
from metaml.search.schedules import SCHEDULES

GBQR = OptimizerVariant("gbqr", {"strategy": "gbqr"})


def pool(dataset: str = "made", *, with_seconds: bool = True) -> RecordedRuns:
    places = np.random.default_rng(0).random((60, 2))
    configs = tuple({"x": float(x), "y": float(y)} for x, y in places)
    seconds = 1.0 + 9.0 * places[:, 0]
    return RecordedRuns(dataset, "svm", configs, -((places - 0.6) ** 2).sum(axis=1), seconds if with_seconds else None)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_workers_never_do_more_than_time_allows_and_nothing_twice(schedule):
    runs = pool()

    line = simulate_workers(runs, GBQR, schedule, n_workers=3, seed=0, evaluations_each=6, n_starts=4)

    assert len(line.positions) == len(set(line.positions)) == len(line.done_at)
    assert line.done_at == sorted(line.done_at)
    assert line.done_at[-1] <= line.budget
    assert 0 < line.busy_share <= 1
    assert runs.seconds[line.positions].sum() <= line.busy + 1e-9


def test_one_worker_is_never_idle():
    line = simulate_workers(pool(), GBQR, "asynchronous", n_workers=1, seed=0, evaluations_each=5, n_starts=2)

    assert line.busy_share == pytest.approx(1.0)
    assert np.diff(line.done_at) == pytest.approx(pool().seconds[line.positions][1:])


def test_a_pool_that_is_used_up_ends_the_simulation():
    line = simulate_workers(pool(), GBQR, "rambo", n_workers=8, seed=0, evaluations_each=50, n_starts=4)

    assert sorted(line.positions) == list(range(60))


def test_regret_falls_with_time_and_starts_with_the_worst_score():
    line = simulate_workers(pool(), GBQR, "asynchronous", n_workers=2, seed=0, n_starts=4)

    regret = line.regret(pool(), 20)

    assert (np.diff(regret) <= 0).all()
    assert regret[0] <= 100


def test_shuffled_seconds_are_the_same_ones_elsewhere():
    runs = pool()

    shuffled = without_pattern(runs)

    assert sorted(shuffled.seconds) == sorted(runs.seconds)
    assert abs(np.corrcoef(shuffled.seconds, runs.seconds)[0, 1]) < 0.5


def test_the_first_way_is_what_others_are_compared_with():
    pools = {"svm": [pool("one"), pool("two")]}
    ways = {"asynchronous": (GBQR, "asynchronous"), "rambo": (GBQR, "rambo")}

    table = compare_schedules(pools, ways, n_workers=4, n_seeds=1, evaluations_each=4)

    assert table["schedule"].tolist() == ["asynchronous", "rambo"]
    assert table["minus first"].iloc[0] == 0
    assert set(table["data sets"]) == {2}


def test_runs_without_seconds_are_refused():
    with pytest.raises(BadRequest, match="have no seconds"):
        simulate_workers(pool(with_seconds=False), GBQR, "rambo", n_workers=2, seed=0)
