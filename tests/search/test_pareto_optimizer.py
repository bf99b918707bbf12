"""A search for several objectives replays from what was told, and follows the front."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.search.pareto_optimizer import METHODS, ParetoOptimizer
from metaml.spaces import Float, Space

SPACE = Space([Float("x", 0.0, 1.0, default=0.5), Float("y", 0.0, 1.0, default=0.5)])


def costs_of(config):
    return config["x"], 1 - config["x"] + config["y"]


def run(optimizer, n):
    for _ in range(n):
        config = optimizer.ask().config
        optimizer.observe_costs(config, costs_of(config))
    return optimizer


@pytest.mark.parametrize("method", METHODS)
def test_a_search_goes_on_from_what_was_told(method):
    whole = run(ParetoOptimizer(SPACE, n_objectives=2, method=method, n_design=4, seed=1), 9)
    resumed = ParetoOptimizer(SPACE, n_objectives=2, method=method, n_design=4, seed=1)
    for seen, costs in zip(whole.seen[:6], whole.costs[:6], strict=True):
        resumed.observe_costs(seen.config, costs)

    run(resumed, 3)

    assert [seen.config for seen in resumed.seen] == [seen.config for seen in whole.seen]


def test_each_proposal_of_parego_has_its_own_weights():
    optimizer = run(ParetoOptimizer(SPACE, n_objectives=2, method="parego", n_design=4), 5)

    optimizer.ask()
    first = [seen.score for seen in optimizer.seen]
    optimizer.ask()

    assert [seen.score for seen in optimizer.seen] != first


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.judge])
def test_a_model_finds_more_of_the_front_than_chance(method):
    def behind(name):
        optimizer = run(ParetoOptimizer(SPACE, n_objectives=2, method=name, n_design=6, seed=2), 16)
        return np.mean([seen.config["y"] for seen in optimizer.seen[6:]])

    # The front is where y is 0.
    assert behind(method) < behind("random")


def test_the_front_is_what_nothing_dominates():
    optimizer = ParetoOptimizer(SPACE, n_objectives=2)
    for x, y, costs in [(0.1, 0.1, (1.0, 2.0)), (0.2, 0.2, (2.0, 3.0)), (0.3, 0.3, None)]:
        optimizer.observe_costs({"x": x, "y": y}, costs)

    assert optimizer.on_front.tolist() == [True, False, False]
    assert np.isnan(optimizer.costs[2]).all()


def test_a_design_that_is_used_up_is_followed_by_another():
    optimizer = run(ParetoOptimizer(SPACE, n_objectives=2, method="latin_hypercube", n_design=4), 8)

    halves = [[seen.config["x"] for seen in part] for part in (optimizer.seen[:4], optimizer.seen[4:])]
    assert all(sorted(int(4 * x) for x in half) == [0, 1, 2, 3] for half in halves)


@pytest.mark.parametrize("wrong", [{"n_objectives": 4}, {"n_objectives": 2, "method": "nsga"}])
def test_what_is_not_known_is_refused(wrong):
    with pytest.raises(BadRequest):
        ParetoOptimizer(SPACE, **wrong)


def test_as_many_costs_as_objectives_are_needed():
    with pytest.raises(BadRequest, match="not 3"):
        ParetoOptimizer(SPACE, n_objectives=2).observe_costs({"x": 0.1, "y": 0.1}, (1.0, 2.0, 3.0))
