"""SMS-EGO's judge: what would add to the front is worth more than what is behind it."""

import numpy as np
import pytest

from metaml.acquisition.hypervolume_committee import HypervolumeCommittee
from metaml.acquisition.scalarisation import draw_weights, tchebycheff

rng = np.random.default_rng(0)
ROWS = rng.random((30, 2))
COSTS = np.column_stack([ROWS[:, 0], (1 - ROWS[:, 0]) + ROWS[:, 1]])
NONE = np.empty((0, 2))


def fitted(n_left=10, pending=NONE):
    return HypervolumeCommittee("gaussian_process_all", 2).fit_costs(ROWS, COSTS, pending, n_left=n_left, seed=0)


def test_a_place_on_the_true_front_is_worth_more_than_one_far_behind():
    committee = fitted()

    values = committee.values(committee.parts(np.array([[0.5, 0.0], [0.5, 1.0]])))

    assert values[0] > values[1]


def test_what_is_behind_the_front_has_a_negative_value():
    committee = fitted()

    values = committee.values(committee.parts(np.array([[0.5, 1.0], [0.5, 0.8]])))

    assert values[0] < values[1] < 0


def test_a_pending_row_counts_as_if_it_were_known():
    place = np.array([[0.5, 0.0]])

    alone, beside = fitted(), fitted(pending=place)

    assert beside.values(beside.parts(place)) < alone.values(alone.parts(place))


def test_costs_of_any_unit_are_judged_alike():
    places = rng.random((20, 2))
    committee = HypervolumeCommittee("gaussian_process_all", 2)
    committee.fit_costs(ROWS, COSTS * [1000.0, 0.001] + [5.0, -3.0], NONE, n_left=10, seed=0)
    plain = fitted()

    order = np.argsort(committee.values(committee.parts(places)), kind="stable")

    assert order.tolist() == np.argsort(plain.values(plain.parts(places)), kind="stable").tolist()


def test_it_believes_in_the_unit_of_the_scores():
    belief = fitted().believe(np.array([0.3, 0.2]))

    assert belief.score == pytest.approx(-0.3, abs=0.05)


def test_weights_sum_to_one_and_follow_the_generator():
    weights = draw_weights(3, np.random.default_rng(1))

    assert weights.sum() == pytest.approx(1.0)
    assert np.array_equal(weights, draw_weights(3, np.random.default_rng(1)))


def test_a_weight_of_one_leaves_the_order_of_that_objective():
    costs = np.array([[0.2, 0.9], [0.3, 0.1]])

    assert tchebycheff(costs, np.array([1.0, 0.0])).argmin() == 0
