"""A metric that knows what each error costs: its name, its thresholds and its bounds."""

import numpy as np
import pytest

from metaml.ensemble.threshold_scores import judge
from metaml.ensemble.thresholds import decide, tune_multipliers
from metaml.errors import BadRequest
from metaml.metrics import metric
from metaml.metrics.costs import Costs, costs_in, costs_named

CREDIT = Costs.of({("bad", "good"): 10.0}, ["bad", "good"])


def customers(n=4000, seed=0):
    """Return which customers repay (1), and the right probabilities of that."""
    rng = np.random.default_rng(seed)
    chances = rng.beta(4, 1.5, n)
    return (rng.random(n) < chances).astype(np.int64), np.column_stack([1 - chances, chances])


def test_the_name_holds_the_costs_and_makes_the_metric_again():
    three = Costs.of({("a", "c"): 2.5, ("b", "a"): 0}, ["a", "b", "c"])

    for costs in (CREDIT, three):
        again = metric(costs.name)
        assert again.name == costs.name
        assert again.is_loss
        assert again.label == "mean cost"
        assert costs_named(costs.name).matrix.tolist() == costs.matrix.tolist()
    assert metric(CREDIT.name).tasks == ("binary",)
    assert metric(three.name).tasks == ("multiclass",)


def test_the_theoretical_threshold_is_that_of_the_thesis():
    factors = np.array(CREDIT.factors)

    assert factors[0] / factors.sum() == pytest.approx(1 - 1 / 11)  # Coors (2018), eq. 53, for the class without costs
    truth, chances = customers()
    cost = {t: -CREDIT.metric.function(truth, (chances[:, 1] > t).astype(int)) for t in (0.5, 10 / 11)}
    assert cost[10 / 11] < 0.6 * cost[0.5]


def test_right_probabilities_leave_the_theoretical_threshold_as_it_is():
    truth, chances = customers()

    factors = tune_multipliers(chances, truth, CREDIT.name)

    assert factors[0] / factors.sum() == pytest.approx(10 / 11, abs=0.03)


def test_wrong_probabilities_move_the_threshold_to_where_errors_cost_least():
    truth, chances = customers()
    shy = np.column_stack([1 - chances[:, 1] / 2, chances[:, 1] / 2])

    factors = tune_multipliers(shy, truth, CREDIT.name)

    theoretical = CREDIT.metric.function(truth, decide(shy, np.array(CREDIT.factors)))
    tuned = CREDIT.metric.function(truth, decide(shy, factors))
    assert tuned > theoretical
    assert judge(shy, truth, np.arange(len(truth)) % 5, CREDIT.name) == pytest.approx(tuned, abs=0.03)


def test_few_rows_are_decided_by_the_theoretical_threshold():
    truth, chances = customers(n=60)

    assert tune_multipliers(chances[:20], truth[:20], CREDIT.name) == pytest.approx(CREDIT.factors)


def test_costs_count_by_the_weight_of_rows_and_in_any_unit():
    truth, chances = customers()
    costly = Costs.of({("bad", "good"): 10_000.0, ("good", "bad"): 1000.0}, ["bad", "good"])

    assert tune_multipliers(chances, truth, costly.name) == pytest.approx(tune_multipliers(chances, truth, CREDIT.name))
    labels, weight = np.array([1, 0]), np.array([3.0, 1.0])
    assert CREDIT.metric.function(np.array([0, 1]), labels, weight) == pytest.approx(-(3 * 10 + 1) / 4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({("bad", "poor"): 1.0}, "no class 'poor' to give a cost for"),
        ({("bad", "good"): -1.0}, "cannot cost -1"),
        ({("bad", "bad"): 1.0}, "What is right costs nothing"),
        ({("bad", "good"): 0.0, ("good", "bad"): 0.0}, "No error costs anything"),
    ],
)
def test_costs_that_make_no_sense_are_refused(given, message):
    with pytest.raises(BadRequest, match=message):
        Costs.of(given, ["bad", "good"])


@pytest.mark.parametrize("text", ["bad=10", "bad:good", "bad:good=much"])
def test_a_text_that_is_no_cost_is_refused(text):
    with pytest.raises(BadRequest, match="is not a cost"):
        costs_in([text])


@pytest.mark.parametrize("name", ["cost", "neg_cost", "neg_cost[]", 'neg_cost{"a":{}}', "costs"])
def test_other_names_are_no_costs(name):
    assert costs_named(name) is None
    with pytest.raises(BadRequest, match="There is no metric"):
        metric(name)
