"""The initial design: a portfolio applied to one data set."""

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.metalearning.initial_design import InitialDesign
from metaml.metalearning.portfolio import make_portfolio
from tests.experienced import DESCRIBED, WANTED, quality

DEFAULT = ALGORITHMS["k_neighbors"].space("multiclass").default()


def reading(portfolio, described=DESCRIBED, **changes) -> InitialDesign:
    return InitialDesign(portfolio, described, **{"algorithms": WANTED.algorithms, "n_rows": 700.0, **changes})


def test_one_held_out_fold_takes_a_fifth_of_five_folds(portfolio):
    folds, part = reading(portfolio), reading(portfolio, n_folds=1)

    assert [item.seconds for item in part.candidates] == pytest.approx([item.seconds / 5 for item in folds.candidates])


def test_an_empty_portfolio_suggests_nothing():
    nothing = make_portfolio({}, {})

    assert nothing.n_datasets == 0
    assert not reading(nothing).is_usable
    assert reading(nothing).first(3) == []


def test_the_initial_design_has_good_configurations_and_those_given(portfolio):
    suggestions = reading(portfolio).first(4, given=[("k_neighbors", DEFAULT)])

    assert len(suggestions) == 4
    assert (suggestions[0].algorithm, suggestions[0].config) == ("k_neighbors", DEFAULT)
    trees = [quality("decision_tree", item.config) for item in suggestions if item.algorithm == "decision_tree"]
    assert trees
    assert np.mean(trees) > 0.05


def test_under_a_time_budget_slow_candidates_are_left_out_unless_given(portfolio):
    design, given = reading(portfolio), [("k_neighbors", DEFAULT)]

    hurried = design.first(4, given=given, budget_seconds=0.01)
    patient = design.first(4, given=given, budget_seconds=60.0)

    assert [(item.algorithm, item.config) for item in hurried] == given
    assert len(patient) == 4


def test_a_filled_design_continues_with_the_highest_expected_levels(portfolio):
    design = reading(portfolio)

    filled = design.first(10, is_filled=True)

    assert filled[: len(design.first(10))] == design.first(10)
    assert len({repr(item) for item in filled}) == 10


def test_only_allowed_algorithms_and_valid_configurations_are_suggested(portfolio):
    suggestions = reading(portfolio, algorithms=("k_neighbors",), is_valid=lambda _, config: config != DEFAULT).first(3)

    assert {item.algorithm for item in suggestions} == {"k_neighbors"}
    assert DEFAULT not in [item.config for item in suggestions]


def test_the_algorithm_that_did_better_everywhere_comes_first(portfolio):
    assert reading(portfolio).order() == ["decision_tree", "k_neighbors"]


def test_reasons_name_the_most_similar_data_sets(portfolio):
    why = reading(portfolio).reasons("k_neighbors", DEFAULT)

    assert 0 <= why["expected_level"] <= 1
    assert why["carriers"][0]["dataset"] == "world-3-multiclass"
    assert reading(portfolio).reasons("mlp", {}) == {}


def test_a_data_set_without_metafeatures_gets_an_initial_design(portfolio):
    design = reading(portfolio, described={})

    assert len(design.first(3)) == 3
    assert design.similar == []


def test_evaluations_that_took_longer_than_expected_correct_what_others_are_expected_to_take(portfolio):
    before = reading(portfolio)
    first = before.candidates[0]

    after = reading(portfolio, finished=[(first.algorithm, first.config, 3 * first.seconds)])

    ratios = [new.seconds / old.seconds for new, old in zip(after.candidates, before.candidates, strict=True)]
    assert 1 < ratios[0] < 3
    assert ratios == pytest.approx([ratios[0]] * len(ratios))


def test_the_curves_of_an_algorithm_rise_to_its_best_level_on_each_similar_data_set(portfolio):
    curves = reading(portfolio).improvement_curves()

    assert set(curves) == {"decision_tree", "k_neighbors"}
    for found in curves.values():
        assert all(list(curve) == sorted(curve) and 0 <= curve[-1] <= 1 for curve in found)
    assert max(curve[-1] for curve in curves["decision_tree"]) > 0
