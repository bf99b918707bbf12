"""Look-up simulation: shared starts, curves by hand, resuming, workers."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.laboratory import (
    BASELINES,
    OptimizerVariant,
    RecordedRuns,
    regret_curve,
    regret_over_seconds,
    simulate,
    simulate_all,
)
from metaml.laboratory.simulate import expected_random_curve, read_cells, shared_starts

rng = np.random.default_rng(0)
CONFIGS = tuple({"C": float(c), "k": "ab"[int(c * 10) % 2]} for c in rng.random(40))
SCORES = np.array([-abs(c["C"] - 0.3) for c in CONFIGS])
POOL = RecordedRuns("iris", "svc", CONFIGS, SCORES, np.linspace(1, 2, 40))
GP = OptimizerVariant("gp", {"strategy": "gaussian_process"})


def test_regret_is_the_share_of_the_range_below_the_optimum():
    pool = RecordedRuns("d", "a", ({}, {}, {}), np.array([0.5, 0.6, 0.9]))

    assert regret_curve(pool, (1, 0, 2), 4).round(6).tolist() == [75.0, 75.0, 0.0, 0.0]


def test_random_twice_counts_two_evaluations_as_one():
    pool = RecordedRuns("d", "a", ({}, {}, {}, {}), np.array([0.0, 0.5, 0.8, 1.0]))

    assert regret_curve(pool, (0, 1, 2, 3), 2, speed=2).round(6).tolist() == [50.0, 0.0]


def test_regret_over_seconds_waits_for_results():
    pool = RecordedRuns("d", "a", ({}, {}, {}), np.array([0.0, 0.5, 1.0]), np.array([1.0, 2.0, 3.0]))

    regret = regret_over_seconds(pool, (1, 2), budget=6.0, n_points=6)

    assert regret.tolist() == [100.0, 50.0, 50.0, 50.0, 0.0, 0.0]


def test_all_methods_start_from_the_same_configurations():
    orders = [simulate(POOL, method, n=5, seed=1) for method in (GP, BASELINES["random"])]

    assert list(orders[0][:3]) == list(orders[1][:3]) == shared_starts(POOL, 3, 1)
    assert shared_starts(POOL, 3, 1) != shared_starts(POOL, 3, 2)


def test_no_configuration_is_evaluated_twice():
    order = simulate(POOL, GP, n=100, seed=0)

    assert sorted(order) == list(range(40))


def test_a_surrogate_finds_the_optimum_of_a_smooth_pool_soon():
    curve = regret_curve(POOL, simulate(POOL, GP, n=15, seed=0), 15)

    assert curve[-1] == 0.0


def test_finished_cells_are_read_and_not_run_again(tmp_path):
    path = tmp_path / "cells.csv"
    methods = [BASELINES["random"], GP]
    first = simulate_all({"t": [POOL]}, methods[:1], seeds=(0, 1), n=6, path=path)
    before = path.read_text(encoding="utf-8")

    both = simulate_all({"t": [POOL]}, methods, seeds=(0, 1), n=6, path=path)

    assert path.read_text(encoding="utf-8").startswith(before)
    assert both[:2] == first
    assert len(both) == len(read_cells(path)) == 4


def test_workers_find_what_one_process_finds():
    alone = simulate_all({"t": [POOL]}, [GP], seeds=(0,), n=6)

    together = simulate_all({"t": [POOL]}, [GP], seeds=(0,), n=6, n_workers=2)

    assert together == alone


def test_a_pool_needs_a_score_for_each_configuration():
    with pytest.raises(BadRequest, match="2 configurations and 1 scores"):
        RecordedRuns("d", "a", ({}, {}), np.array([0.5]))


def test_a_budget_of_seconds_ends_a_simulation():
    order = simulate(POOL, BASELINES["random"], n=40, seed=0, budget=6.0)

    spent = POOL.seconds[list(order)]

    assert spent.sum() >= 6.0 > spent[:-1].sum()


def test_expected_random_search_starts_where_the_others_start():
    curve = expected_random_curve(POOL, n=10, seed=1)

    assert np.allclose(curve[:3], regret_curve(POOL, shared_starts(POOL, 3, 1), 3))
    assert (np.diff(curve) <= 0).all()
