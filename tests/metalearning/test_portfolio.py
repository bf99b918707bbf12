"""What is known on many data sets, and how it opens a search."""

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.experience.lesson_files import LessonRequest, learn
from metaml.metalearning.history import make_history
from metaml.metalearning.initial_design import InitialDesign
from metaml.metalearning.portfolio import Portfolio, make_portfolio, shared, stretched
from metaml_kb import open_kb
from tests.experienced import fill, quality

NAMES = ("decision_tree", "k_neighbors")
DESCRIBED = {"NumberOfInstances": 700.0, "NumberOfFeatures": 8.0, "NumberOfClasses": 3.0}
DEFAULT = ALGORITHMS["k_neighbors"].space("multiclass").default()


@pytest.fixture(scope="module")
def portfolio():
    with open_kb(":memory:") as kb:
        fill(kb)
        return learn(kb, LessonRequest("neg_log_loss", "multiclass", NAMES)).portfolio


def reading(portfolio, described=DESCRIBED, **changes) -> InitialDesign:
    return InitialDesign(portfolio, described, **{"algorithms": NAMES, "n_rows": 700.0, **changes})


def test_what_was_run_on_many_data_sets_is_in_it_as_measured(portfolio):
    defaults = [(name, ALGORITHMS[name].space("multiclass").default()) for name in NAMES]

    assert all(default in portfolio.candidates for default in defaults)
    assert portfolio.levels.shape == (14, len(portfolio.candidates))
    assert portfolio.levels.min() == 0.0
    assert (portfolio.levels.max(axis=1) == 1.0).all()


def test_a_configuration_is_shared_if_several_data_sets_saw_it():
    configs = [{"x": 1}, {"x": 2}, {"x": 1}, {"x": 3}]
    runs = make_history(
        "toy", "accuracy", datasets=["a", "b"], groups=np.array([0, 0, 1, 1]), configs=configs, scores=np.arange(4.0)
    )

    assert shared(runs) == [{"x": 1}]


def test_it_comes_back_from_the_disk_as_it_was(portfolio):
    again = Portfolio.unpacked(*portfolio.packed(), n_taught=14)

    assert again.candidates == portfolio.candidates
    assert again.names == portfolio.names
    assert again.n_runs == portfolio.n_runs == 14 * 2 * 12
    assert again.n_taught == portfolio.n_taught
    assert np.allclose(again.levels, portfolio.levels)
    assert again.metafeatures.equals(portfolio.metafeatures.astype(np.float32).astype(float))


def test_seconds_grow_with_the_rows_and_are_those_of_the_runs(portfolio):
    few, many = (portfolio.seconds(DESCRIBED, n_rows=n, reference_seconds=None) for n in (700, 70_000))

    assert few == pytest.approx(np.full(len(few), 0.06), rel=1.0)
    assert (many >= few).all()


def test_a_part_that_is_held_out_takes_a_fifth_of_five_folds(portfolio):
    folds, part = reading(portfolio), reading(portfolio, n_folds=1)

    assert [item.seconds for item in part.candidates] == pytest.approx([item.seconds / 5 for item in folds.candidates])


def test_nobody_knows_nothing():
    nothing = make_portfolio({}, {})

    assert nothing.n_datasets == 0
    assert not reading(nothing).is_usable
    assert reading(nothing).first(3) == []


def test_what_is_unknown_on_a_data_set_is_as_it_is_elsewhere():
    levels = stretched(np.array([[0.0, 1.0, np.nan], [0.0, 1.0, 0.5], [0.0, 0.0, 4.0]]))

    assert levels[0].tolist() == [0.0, 1.0, 0.5]


def test_the_opening_holds_what_did_well_and_the_defaults_that_were_asked_for(portfolio):
    suggestions = reading(portfolio).first(4, given=[("k_neighbors", DEFAULT)])

    assert len(suggestions) == 4
    assert (suggestions[0].algorithm, suggestions[0].config) == ("k_neighbors", DEFAULT)
    trees = [quality("decision_tree", item.config) for item in suggestions if item.algorithm == "decision_tree"]
    assert trees
    assert np.mean(trees) > 0.05


def test_under_a_time_budget_long_moves_are_left_out_but_not_what_was_asked_for(portfolio):
    opening, given = reading(portfolio), [("k_neighbors", DEFAULT)]

    hurried = opening.first(4, given=given, budget_seconds=0.01)
    patient = opening.first(4, given=given, budget_seconds=60.0)

    assert [(item.algorithm, item.config) for item in hurried] == given
    assert len(patient) == 4


def test_a_list_that_is_to_be_filled_goes_on_with_what_stands_highest(portfolio):
    opening = reading(portfolio)

    filled = opening.first(10, is_filled=True)

    assert filled[: len(opening.first(10))] == opening.first(10)
    assert len({repr(item) for item in filled}) == 10


def test_only_algorithms_that_take_part_and_valid_configurations_open(portfolio):
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


def test_a_data_set_of_which_nothing_is_known_gets_an_opening(portfolio):
    opening = reading(portfolio, described={})

    assert len(opening.first(3)) == 3
    assert opening.similar == []
