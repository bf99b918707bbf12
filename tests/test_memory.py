"""What a knowledge base contributes: lessons that are kept, an opening, judges, reasons."""

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.memory import Wanted, known_datasets, learn, place_of, remember
from metaml.metalearning.lessons import load_lessons
from metaml.metalearning.table import to_leave_out
from metaml_kb import open_kb
from tests.experienced import fill, quality

WANTED = Wanted("neg_log_loss", "multiclass", ("decision_tree", "k_neighbors"))
DESCRIBED = {"NumberOfInstances": 700.0, "NumberOfFeatures": 8.0, "NumberOfClasses": 3.0, "ClassEntropy": 1.1}


@pytest.fixture(scope="module")
def experienced(tmp_path_factory):
    with open_kb(tmp_path_factory.mktemp("memory") / "kb.db") as kb:
        fill(kb)
        yield kb


@pytest.fixture(scope="module")
def memory(experienced):
    return remember(experienced, WANTED, DESCRIBED)


def test_lessons_are_kept_beside_the_knowledge_base_and_say_the_same(experienced, memory):
    kept = load_lessons(place_of(experienced) / WANTED.file_name)

    config = ALGORITHMS["decision_tree"].space("multiclass").default()
    again = kept.trained["decision_tree"].learner.predict([config], DESCRIBED)

    assert again.tolist() == memory.lessons.trained["decision_tree"].learner.predict([config], DESCRIBED).tolist()
    assert kept.n_datasets == 14
    assert kept.runtimes["k_neighbors"].predict([{"n_neighbors": 5}], DESCRIBED) == pytest.approx([0.06], rel=0.5)
    assert kept.prior.expect(DESCRIBED) == memory.lessons.prior.expect(DESCRIBED)


def test_the_algorithm_that_did_better_everywhere_comes_first(memory):
    assert memory.order(["k_neighbors", "decision_tree"]) == ["decision_tree", "k_neighbors"]
    assert memory.order(["mlp", "k_neighbors"]) == ["k_neighbors", "mlp"]


def test_the_opening_holds_what_did_well_and_the_defaults_that_were_asked_for(memory):
    default = ALGORITHMS["k_neighbors"].space("multiclass").default()

    moves = memory.opening(
        WANTED.algorithms, n=4, given=[("k_neighbors", default)], budget_seconds=None, reference_seconds=None
    )

    assert len(moves) == 4
    assert ("k_neighbors", default) in [(move.algorithm, move.config) for move in moves[:2]]
    trees = [quality("decision_tree", move.config) for move in moves if move.algorithm == "decision_tree"]
    assert trees
    assert np.mean(trees) > 0.05


def test_under_a_time_budget_long_moves_are_left_out_but_not_what_was_asked_for(memory):
    default = ALGORITHMS["k_neighbors"].space("multiclass").default()
    ask = {"n": 4, "given": [("k_neighbors", default)], "reference_seconds": None}

    hurried = memory.opening(WANTED.algorithms, budget_seconds=0.1, **ask)
    patient = memory.opening(WANTED.algorithms, budget_seconds=60.0, **ask)

    assert [(move.algorithm, move.config) for move in hurried] == [("k_neighbors", default)]
    assert len(patient) == 4


def test_reasons_name_settings_and_similar_data_sets(memory):
    config = ALGORITHMS["decision_tree"].space("multiclass").default()

    why = memory.reasons("decision_tree", config)

    assert any("speaks" in reason for reason in why["reasons"])
    assert len(why["carriers"]) == 5
    assert why["carriers"][0]["dataset"].startswith("world-")


def test_an_algorithm_nobody_ran_has_no_say(memory):
    assert not memory.knows("mlp")
    assert memory.reasons("mlp", {}) == {}


def test_an_excluded_data_set_is_left_out_of_the_lessons(experienced):
    left_out = to_leave_out(experienced, ["world-3-multiclass"])

    lessons = learn(experienced, Wanted("neg_log_loss", "multiclass", left_out=left_out))

    assert len(left_out) == 1
    assert lessons.n_datasets == 13
    assert "world-3-multiclass" not in lessons.names.values()


@pytest.mark.parametrize("n_datasets", [0, 1, 9])
def test_too_little_experience_is_no_experience(n_datasets):
    with open_kb(":memory:") as kb:
        fill(kb, n_datasets=n_datasets)

        assert remember(kb, WANTED, DESCRIBED) is None
        assert known_datasets(kb, WANTED) == n_datasets


def test_regression_says_nothing_about_classes():
    with open_kb(":memory:") as kb:
        fill(kb, task="regression")

        assert remember(kb, WANTED, DESCRIBED) is None
        assert known_datasets(kb, WANTED) == 0


def test_nothing_known_of_the_data_set_is_no_obstacle(experienced):
    memory = remember(experienced, WANTED, {})

    moves = memory.opening(WANTED.algorithms, n=3, given=(), budget_seconds=None, reference_seconds=None)

    assert len(moves) == 3


def test_lessons_are_learnt_anew_when_the_knowledge_base_has_grown(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=10)
        first = remember(kb, WANTED, DESCRIBED, seconds=10_000.0)
        fill(kb, n_datasets=12)

        hurried = remember(kb, WANTED, DESCRIBED, seconds=0.001)
        patient = remember(kb, WANTED, DESCRIBED, seconds=10_000.0)

    assert first.lessons.n_datasets == hurried.lessons.n_datasets == 10
    assert "metaml learn renews them" in hurried.notes[0]
    assert patient.lessons.n_datasets == 12


def test_damaged_lessons_are_learnt_anew(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=10)
        learn(kb, WANTED)
        (place_of(kb) / WANTED.file_name).write_bytes(b"PK\x03\x04 broken")

        assert remember(kb, WANTED, DESCRIBED).lessons.n_datasets == 10
