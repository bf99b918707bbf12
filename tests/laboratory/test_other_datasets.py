"""Methods that learn from the runs on other data sets, simulated on recorded runs."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.laboratory import OptimizerVariant, RecordedRuns, simulate, simulate_all
from metaml.laboratory.compare import methods_of
from metaml.laboratory.other_datasets import what_others_say

BEST = 0.3


def pools(n=12, n_configs=30):
    rng = np.random.default_rng(0)
    made = []
    for number in range(n):
        configs = tuple({"x": float(x), "z": float(z)} for x, z in rng.random((n_configs, 2)))
        scores = np.array([1.0 - abs(config["x"] - BEST) for config in configs])
        made.append(RecordedRuns(f"d{number}", "svc", configs, scores, np.ones(n_configs)))
    return made


POOLS = pools()
OTHERS = what_others_say(POOLS)


def first_of(rule, pool=POOLS[0]):
    method = OptimizerVariant(rule, {"strategy": f"gbqr+{rule}"})
    return simulate(pool, method, n=3, seed=0, others=OTHERS[pool.dataset])


@pytest.mark.parametrize("rule", ["best", "delta", "knn", "opt", "portfolio"])
def test_starts_of_other_data_sets_are_better_than_the_worst_predicted(rule):
    scores = POOLS[0].scores

    assert scores[list(first_of(rule))].mean() > scores[list(first_of("worst"))].mean() + 0.2


def test_an_even_design_needs_no_other_data_set():
    order = simulate(POOLS[0], OptimizerVariant("even", {"strategy": "random+design:4"}), n=4, seed=0)

    assert len(set(order)) == 4


def test_the_vote_of_the_meta_learner_finds_the_optimum_sooner():
    found = {}
    for name in ("gbqr+design+blended", "gbqr+design"):
        orders = [
            simulate(pool, OptimizerVariant(name, {"strategy": name}), n=6, seed=0, others=OTHERS[pool.dataset])
            for pool in POOLS
        ]
        found[name] = np.mean([pool.scores[list(order)].max() for pool, order in zip(POOLS, orders, strict=True)])

    assert found["gbqr+design+blended"] > found["gbqr+design"]


def test_the_thesis_is_an_optimiser():
    methods = methods_of(["thesis", "random"])

    cells = simulate_all({"svc": POOLS}, methods, seeds=range(1), n=6)

    assert {cell.method for cell in cells} == {"thesis", "random"}
    assert all(len(set(cell.order)) == 6 for cell in cells)


def test_too_few_data_sets_are_refused_in_one_sentence():
    with pytest.raises(BadRequest, match="on 3 data sets, too few to learn from others"):
        simulate_all({"svc": POOLS[:3]}, methods_of(["gbqr+delta"]), seeds=range(1), n=5)
    with pytest.raises(BadRequest, match="need the runs on other data sets"):
        simulate(POOLS[0], OptimizerVariant("delta", {"strategy": "gbqr+delta"}), n=5, seed=0)


def test_a_process_with_experience_is_not_simulated():
    with pytest.raises(BadRequest, match="process has no meaning here"):
        methods_of(["default+process"])
