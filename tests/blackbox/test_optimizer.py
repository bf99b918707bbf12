"""Ask and tell: proposals are points of the space, replay from what was told, and come close to the optimum."""

import numpy as np
import pytest

import metaml
from metaml.blackbox import Optimizer, minimize
from metaml.errors import BadConfig, BadRequest
from metaml.pareto import hypervolume
from metaml.search.pareto_optimizer import METHODS
from metaml.spaces import Choice, Float

SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
MIXED = [
    Choice("kind", ("line", "curve"), default="line"),
    Float("x", 0.0, 1.0, default=0.5),
    Float("bend", 0.1, 2.0, default=1.0, when=("kind", ("curve",))),
]


def two_costs(config):
    """Return costs whose front is y = 0."""
    return config["x"], (1 + 9 * config["y"]) * (1 - config["x"] ** 0.5)


def told(optimizer, function, n):
    for _ in range(n):
        config = optimizer.ask()
        optimizer.tell(config, function(config))
    return optimizer


def test_the_top_level_names_are_these():
    assert metaml.Optimizer is Optimizer
    assert metaml.minimize is minimize


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_and_values_give_the_same_proposals(method):
    first, second = (
        told(Optimizer(SPACE, objectives=2, method=method, n_design=5, seed=3), two_costs, 9) for _ in range(2)
    )

    assert first.result == second.result


@pytest.mark.parametrize("method", METHODS)
def test_a_mixed_space_is_searched(method):
    def costs(config):
        return config["x"], 1 - config["x"] * config.get("bend", 1.0)

    optimizer = told(Optimizer(MIXED, objectives=2, method=method, n_design=6, seed=0), costs, 12)

    assert all(optimizer.space.is_valid(evaluation.config) for evaluation in optimizer.result.evaluations)
    assert {evaluation.config["kind"] for evaluation in optimizer.result.evaluations} == {"line", "curve"}


@pytest.mark.parametrize("method", ["parego", "sms_ego"])
def test_a_model_finds_more_of_the_front_than_chance(method):
    def volume(name):
        optimizer = told(Optimizer(SPACE, objectives=2, method=name, n_design=8, seed=0), two_costs, 30)
        return hypervolume(np.array([one.values for one in optimizer.result.evaluations]), np.array([1.1, 1.1]))

    assert volume(method) > volume("random") + 0.05


def test_several_configurations_can_be_asked_for_before_any_is_told():
    optimizer = told(Optimizer(SPACE, objectives=2, method="sms_ego", n_design=5), two_costs, 6)

    asked = [optimizer.ask() for _ in range(4)]

    assert len({(config["x"], config["y"]) for config in asked}) == 4


def test_three_objectives_have_a_front():
    def costs(config):
        return (config["x"] - 0.2) ** 2, (config["x"] - 0.8) ** 2, config["y"]

    optimizer = told(Optimizer(SPACE, objectives=["a", "b", "c"], method="auto", n_design=6), costs, 14)

    assert optimizer.result.front
    assert list(optimizer.result.frame().columns) == ["x", "y", "a", "b", "c", "on_front"]


def test_values_may_be_named():
    optimizer = Optimizer(SPACE, objectives=["loss", "seconds"])
    config = optimizer.ask()

    optimizer.tell(config, {"seconds": 2.0, "loss": 1.0})

    assert optimizer.result.evaluations[0].values == (1.0, 2.0)
    with pytest.raises(BadRequest, match="no value for 'seconds'"):
        optimizer.tell(config, {"loss": 1.0})


def test_a_failure_is_no_reason_to_stop():
    optimizer = Optimizer(SPACE, objectives=2, n_design=3)

    told(optimizer, lambda config: None if config["x"] > 0.5 else two_costs(config), 10)

    assert all(evaluation.config["x"] <= 0.5 for evaluation in optimizer.result.front)


@pytest.mark.parametrize("values", [1.0, (1.0, 2.0, 3.0)])
def test_the_wrong_number_of_values_is_refused(values):
    optimizer = Optimizer(SPACE, objectives=2)

    with pytest.raises(BadRequest, match="2 values are needed"):
        optimizer.tell(optimizer.ask(), values)


def test_what_is_no_point_of_the_space_is_refused():
    with pytest.raises(BadConfig, match="lacks y"):
        Optimizer(SPACE).tell({"x": 0.5}, 1.0)


@pytest.mark.parametrize(
    "wrong",
    [{"objectives": 4}, {"objectives": "loss"}, {"objectives": ["a", "a"]}, {"method": "nsga"}, {"objectives": 0}],
)
def test_what_cannot_be_optimised_is_refused(wrong):
    with pytest.raises(BadRequest, match=r"\."):
        Optimizer(SPACE, **wrong)


def test_values_under_other_names_say_which_names_there_are():
    optimizer = Optimizer({"x": (0.0, 1.0)})

    with pytest.raises(BadRequest, match=r"no value for 'value'.*loss, size"):
        optimizer.tell(optimizer.ask(), {"loss": 1.0, "size": 2.0})
