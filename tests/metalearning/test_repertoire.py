"""What is known on many data sets, and how it opens a search."""

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.learning import Wanted, learn
from metaml.metalearning.opening import Opening
from metaml.metalearning.repertoire import Repertoire, make_repertoire, shared, stretched
from metaml.metalearning.runs import make_experience
from metaml_kb import open_kb
from tests.experienced import fill, quality

NAMES = ("decision_tree", "k_neighbors")
DESCRIBED = {"NumberOfInstances": 700.0, "NumberOfFeatures": 8.0, "NumberOfClasses": 3.0}
DEFAULT = ALGORITHMS["k_neighbors"].space("multiclass").default()


@pytest.fixture(scope="module")
def repertoire():
    with open_kb(":memory:") as kb:
        fill(kb)
        return learn(kb, Wanted("neg_log_loss", "multiclass", NAMES)).repertoire


def reading(repertoire, described=DESCRIBED, **changes) -> Opening:
    return Opening(repertoire, described, **{"algorithms": NAMES, "n_rows": 700.0, **changes})


def test_what_was_run_on_many_data_sets_is_in_it_as_measured(repertoire):
    defaults = [(name, ALGORITHMS[name].space("multiclass").default()) for name in NAMES]

    assert all(default in repertoire.moves for default in defaults)
    assert repertoire.levels.shape == (14, len(repertoire.moves))
    assert repertoire.levels.min() == 0.0
    assert (repertoire.levels.max(axis=1) == 1.0).all()


def test_a_configuration_is_shared_if_several_data_sets_saw_it():
    configs = [{"x": 1}, {"x": 2}, {"x": 1}, {"x": 3}]
    runs = make_experience(
        "toy", "accuracy", datasets=["a", "b"], groups=np.array([0, 0, 1, 1]), configs=configs, scores=np.arange(4.0)
    )

    assert shared(runs) == [{"x": 1}]


def test_it_comes_back_from_the_disk_as_it_was(repertoire):
    again = Repertoire.unpacked(*repertoire.packed(), n_taught=14)

    assert again.moves == repertoire.moves
    assert again.names == repertoire.names
    assert again.n_runs == repertoire.n_runs == 14 * 2 * 12
    assert again.n_taught == repertoire.n_taught
    assert np.allclose(again.levels, repertoire.levels)
    assert again.metafeatures.equals(repertoire.metafeatures.astype(np.float32).astype(float))


def test_seconds_grow_with_the_rows_and_are_those_of_the_runs(repertoire):
    few, many = (repertoire.seconds(DESCRIBED, n_rows=n, reference_seconds=None) for n in (700, 70_000))

    assert few == pytest.approx(np.full(len(few), 0.06), rel=1.0)
    assert (many >= few).all()


def test_a_part_that_is_held_out_takes_a_fifth_of_five_folds(repertoire):
    folds, part = reading(repertoire), reading(repertoire, n_folds=1)

    assert [move.seconds for move in part.moves] == pytest.approx([move.seconds / 5 for move in folds.moves])


def test_nobody_knows_nothing():
    nothing = make_repertoire({}, {})

    assert nothing.n_datasets == 0
    assert not reading(nothing).is_usable
    assert reading(nothing).first(3) == []


def test_what_is_unknown_on_a_data_set_is_as_it_is_elsewhere():
    levels = stretched(np.array([[0.0, 1.0, np.nan], [0.0, 1.0, 0.5], [0.0, 0.0, 4.0]]))

    assert levels[0].tolist() == [0.0, 1.0, 0.5]


def test_the_opening_holds_what_did_well_and_the_defaults_that_were_asked_for(repertoire):
    moves = reading(repertoire).first(4, given=[("k_neighbors", DEFAULT)])

    assert len(moves) == 4
    assert (moves[0].algorithm, moves[0].config) == ("k_neighbors", DEFAULT)
    trees = [quality("decision_tree", move.config) for move in moves if move.algorithm == "decision_tree"]
    assert trees
    assert np.mean(trees) > 0.05


def test_under_a_time_budget_long_moves_are_left_out_but_not_what_was_asked_for(repertoire):
    opening, given = reading(repertoire), [("k_neighbors", DEFAULT)]

    hurried = opening.first(4, given=given, budget_seconds=0.01)
    patient = opening.first(4, given=given, budget_seconds=60.0)

    assert [(move.algorithm, move.config) for move in hurried] == given
    assert len(patient) == 4


def test_a_list_that_is_to_be_filled_goes_on_with_what_stands_highest(repertoire):
    opening = reading(repertoire)

    filled = opening.first(10, is_filled=True)

    assert filled[: len(opening.first(10))] == opening.first(10)
    assert len({repr(move) for move in filled}) == 10


def test_only_algorithms_that_take_part_and_valid_configurations_open(repertoire):
    moves = reading(repertoire, algorithms=("k_neighbors",), is_valid=lambda _, config: config != DEFAULT).first(3)

    assert {move.algorithm for move in moves} == {"k_neighbors"}
    assert DEFAULT not in [move.config for move in moves]


def test_the_algorithm_that_did_better_everywhere_comes_first(repertoire):
    assert reading(repertoire).order() == ["decision_tree", "k_neighbors"]


def test_reasons_name_the_most_similar_data_sets(repertoire):
    why = reading(repertoire).reasons("k_neighbors", DEFAULT)

    assert 0 <= why["expected_level"] <= 1
    assert why["carriers"][0]["dataset"] == "world-3-multiclass"
    assert reading(repertoire).reasons("mlp", {}) == {}


def test_a_data_set_of_which_nothing_is_known_gets_an_opening(repertoire):
    opening = reading(repertoire, described={})

    assert len(opening.first(3)) == 3
    assert opening.similar == []
