"""Rules for which configurations to evaluate first."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.metalearning.assessment.neighbours import Neighbours
from metaml.metalearning.dataset_distances import distances, nearest_datasets
from metaml.metalearning.history import RunHistory
from metaml.metalearning.start_rules import (
    best_k,
    delta_k,
    delta_score,
    greedy_portfolio,
    knn_k,
    opt_k,
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


def test_nearest_data_set_is_the_one_of_similar_size(synthetic: RunHistory):
    like = synthetic.metafeatures.iloc[4].to_dict()

    assert nearest_datasets(synthetic, like, 1).tolist() == [4]


def test_knn_takes_the_best_run_of_the_nearest_data_sets(synthetic: RunHistory):
    like = synthetic.metafeatures.iloc[4].to_dict()

    first = knn_k(synthetic, like, 3)[0]

    own = synthetic.places[4]
    assert first == synthetic.configs[own[int(np.argmax(synthetic.scores[own]))]]


def test_opt_takes_the_data_set_whose_ranking_is_most_similar(synthetic: RunHistory):
    levels = np.random.default_rng(0).random((synthetic.n_datasets, 20))

    first = opt_k(synthetic, levels, levels[7] * 2, 1)[0]

    own = synthetic.places[7]
    assert first == synthetic.configs[own[int(np.argmax(synthetic.scores[own]))]]


def test_without_metafeatures_all_data_sets_are_equally_near(synthetic: RunHistory):
    assert distances(synthetic, {}).tolist() == [0.0] * 12


def test_counts_are_compared_by_their_logarithm(synthetic: RunHistory):
    # Sizes grow by a factor from 100 to 1,000,000: a third of the way up is 2,154 rows, not 333,400.
    like = synthetic.metafeatures.iloc[0].to_dict() | {"NumberOfInstances": 2154.0}

    assert abs(int(nearest_datasets(synthetic, like, 1)[0]) - 11 / 3) < 3


def test_other_metafeatures_count_only_if_those_of_the_thesis_are_unknown(synthetic: RunHistory):
    table = synthetic.metafeatures.assign(CfsSubsetEvalDecisionStumpAUC=range(12))
    world = replace(synthetic, metafeatures=table)
    like = table.iloc[4].to_dict() | {"CfsSubsetEvalDecisionStumpAUC": 11.0}

    assert nearest_datasets(world, like, 1).tolist() == [4]
    assert nearest_datasets(world, {"CfsSubsetEvalDecisionStumpAUC": 11.0}, 1).tolist() == [11]


def test_neighbours_rank_by_the_runs_of_the_nearest_datasets(synthetic: RunHistory):
    like = synthetic.metafeatures.iloc[0].to_dict()

    predicted = Neighbours().fit(synthetic).predict([{"rate": 0.2, "word": "a"}, {"rate": 0.9, "word": "a"}], like)

    assert predicted[0] > predicted[1]


@pytest.mark.parametrize("k", [1, 3])
def test_starts_are_as_many_as_asked_for(k: int):
    predicted = np.random.default_rng(0).random(50)

    assert len(set(delta_k(predicted, k))) == len(best_k(predicted, k)) == k
