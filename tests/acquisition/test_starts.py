"""Rules for which configurations to evaluate first."""

import numpy as np
import pytest

from metaml.acquisition.starts import (
    STARTS,
    best_k,
    delta_k,
    delta_score,
    greedy_portfolio,
    unit_interval,
    with_default,
    worst_k,
)


def test_delta_score_by_hand():
    # Eq. 6.2 at p = 0.75: (1 - 0.75)^0.5 + 0.75 = 1.25.
    assert delta_score(np.array([0.75]), 0.5).tolist() == [1.25]


def test_delta_zero_orders_as_predicted():
    predicted = np.linspace(0, 1, 11)

    assert np.argsort(delta_score(predicted, 0.0)).tolist() == list(range(11))


def test_delta_k_takes_the_best_for_each_delta_in_turn():
    predicted = np.linspace(0, 1, 1001)

    chosen = delta_k(predicted, 3)

    # The maximum of eq. 6.2 is at 1 - delta^(1 / (1 - delta)): 1, 0.923 and 0.866 for 0, 0.1 and 0.2.
    assert chosen == [1000, 923, 866]


def test_delta_k_fills_up_with_the_next_best():
    assert delta_k(np.array([0.0, 1.0]), 3) == [1, 0]
    assert delta_k(np.array([0.3, 0.3, 0.3]), 2) == [0, 1]


def test_equal_values_lie_in_the_middle_of_the_unit_interval():
    assert unit_interval(np.array([3.0, 3.0])).tolist() == [0.5, 0.5]
    assert unit_interval(np.array([1.0, 3.0, 2.0])).tolist() == [0.0, 1.0, 0.5]


def test_best_and_worst_are_opposite():
    predicted = np.array([0.3, 0.1, 0.2])

    assert best_k(predicted, 3) == worst_k(predicted, 3)[::-1]


def test_portfolio_covers_what_the_first_choice_does_not():
    levels = np.array([[1.0, 0.9, 0.0], [1.0, 0.9, 0.0], [0.0, 0.1, 1.0]])

    assert greedy_portfolio(levels, 2) == [0, 2]


def test_weights_of_data_sets_change_the_portfolio():
    levels = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    assert greedy_portfolio(levels, 1) == [0]
    assert greedy_portfolio(levels, 1, weights=np.array([0.1, 0.1, 1.0])) == [1]


def test_portfolio_completes_what_is_given():
    levels = np.array([[1.0, 0.9, 0.0], [1.0, 0.9, 0.0], [0.0, 0.1, 1.0]])

    assert greedy_portfolio(levels, 2, given=[1]) == [1, 2]


def test_portfolio_ends_with_the_candidates():
    assert greedy_portfolio(np.array([[1.0, 2.0]]), 5) == [1, 0]


def test_default_has_a_place_among_the_first():
    starts = with_default([{"a": 1}, {"a": 2}, {"a": 3}], {"a": 9})

    assert starts.index({"a": 9}) == 1
    assert len(starts) == 4


def test_default_that_was_chosen_anyway_is_not_repeated():
    assert with_default([{"a": 9}, {"a": 2}], {"a": 9}) == [{"a": 9}, {"a": 2}]
    assert with_default([{"a": 1}, {"a": 2}, {"a": 9}], {"a": 9}) == [{"a": 1}, {"a": 9}, {"a": 2}]
    assert with_default([], {"a": 9}) == [{"a": 9}]


@pytest.mark.parametrize("k", [1, 3])
def test_starts_are_as_many_as_asked_for(k: int):
    predicted = np.random.default_rng(0).random(50)

    assert len(set(delta_k(predicted, k))) == len(best_k(predicted, k)) == k


class Known:
    """Six candidates and three data sets."""

    predicted = np.array([0.1, 0.9, 0.5, 0.3, 0.8, 0.0])
    levels = np.array([[1.0, 0.9, 0.0, 0.0, 0.0, 0.0], [1.0, 0.9, 0.0, 0.0, 0.0, 0.0], [0.0, 0.1, 1.0, 0.0, 0.0, 0.0]])
    of_nearest = (4, 4, 1, 2)
    of_most_alike = (2, 0, 1, 4)


@pytest.mark.parametrize("name", STARTS)
def test_every_rule_names_different_candidates(name: str):
    chosen = STARTS[name](Known(), 3)

    assert len(chosen) == len(set(chosen)) == 3
    assert set(chosen) <= set(range(6))


def test_neighbours_start_with_what_was_best_there():
    assert STARTS["knn"](Known(), 2) == [4, 1]
    assert STARTS["opt"](Known(), 2) == [2, 0]
