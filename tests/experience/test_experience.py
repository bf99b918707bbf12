"""What a knowledge base contributes: lessons that are kept, an initial design, judges, reasons."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.experience.experience import BackgroundTask, recall_experience
from metaml.experience.lesson_files import (
    SHIPPED,
    LessonRequest,
    count_datasets,
    kept_lessons,
    learn,
    place_of,
    portfolio_at_hand,
)
from metaml.experience.load_history import to_leave_out
from metaml.metalearning.lessons import load_lessons, load_portfolio, taught_by
from metaml_kb import open_kb
from tests.experienced import fill

WANTED = LessonRequest("neg_log_loss", "multiclass", ("decision_tree", "k_neighbors"))
DESCRIBED = {"NumberOfInstances": 700.0, "NumberOfFeatures": 8.0, "NumberOfClasses": 3.0, "ClassEntropy": 1.1}


@pytest.fixture(scope="module")
def experienced(tmp_path_factory):
    with open_kb(tmp_path_factory.mktemp("memory") / "kb.db") as kb:
        fill(kb)
        yield kb


@pytest.fixture(scope="module")
def experience(experienced):
    return recall_experience(experienced, WANTED, DESCRIBED)


def test_lessons_are_kept_beside_the_knowledge_base_and_say_the_same(experienced, experience):
    kept = load_lessons(place_of(experienced) / WANTED.file_name)

    config = ALGORITHMS["decision_tree"].space("multiclass").default()
    again = kept.trained["decision_tree"].learner.predict([config], DESCRIBED)

    assert again.tolist() == experience.lessons.trained["decision_tree"].learner.predict([config], DESCRIBED).tolist()
    assert kept.n_datasets == 14
    assert kept.runtimes["k_neighbors"].predict([{"n_neighbors": 5}], DESCRIBED) == pytest.approx([0.06], rel=0.5)
    assert kept.prior.expect(DESCRIBED) == experience.lessons.prior.expect(DESCRIBED)


def test_the_algorithm_that_did_better_everywhere_comes_first(experience):
    assert experience.order(["k_neighbors", "decision_tree"]) == ["decision_tree", "k_neighbors"]
    assert experience.order(["mlp", "k_neighbors"]) == ["k_neighbors", "mlp"]


def test_reasons_name_settings_and_similar_data_sets(experience):
    config = ALGORITHMS["decision_tree"].space("multiclass").default()

    why = experience.reasons("decision_tree", config)

    assert any("speaks" in reason for reason in why["reasons"])
    assert len(why["carriers"]) == 5
    assert why["carriers"][0]["dataset"].startswith("world-")


def test_experience_is_switched_off_for_the_algorithm_that_it_misled_only(experienced):
    experience = recall_experience(experienced, WANTED, DESCRIBED)
    guards = {
        name: experience.committee(name, (), metric="neg_log_loss", cost=None).guard for name in WANTED.algorithms
    }
    unjudged = experience.contribution(0)

    guards["decision_tree"].judge(np.arange(7.0), -np.arange(7.0))
    guards["k_neighbors"].judge(np.arange(9.0), np.arange(9.0))
    judged = experience.contribution(0)

    assert not unjudged.is_judged
    assert judged.is_judged
    assert judged.guard_off == {"decision_tree": 7}


def test_an_algorithm_nobody_ran_has_no_say(experience):
    assert not experience.knows("mlp")
    assert experience.reasons("mlp", {}) == {}


def test_an_excluded_data_set_is_left_out_of_the_lessons(experienced):
    left_out = to_leave_out(experienced, ["world-3-multiclass"])

    lessons = learn(experienced, LessonRequest("neg_log_loss", "multiclass", left_out=left_out))

    assert len(left_out) == 1
    assert lessons.n_datasets == 13
    assert "world-3-multiclass" not in lessons.names.values()


def test_lessons_serve_whoever_leaves_out_what_had_no_part_in_them(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=12)
        one, two = (to_leave_out(kb, [name]) for name in ("world-3-multiclass", "world-4-multiclass"))
        for left_out in (one, (*one, *two)):
            learn(kb, replace(WANTED, left_out=left_out))

        def n_kept(*left_out):
            found = kept_lessons(place_of(kb), replace(WANTED, left_out=left_out))
            return None if found is None else found.n_datasets

        assert n_kept(*one, "of a data set that is not known") == 11
        assert n_kept(*two) == 10
        assert n_kept(to_leave_out(kb, ["world-5-multiclass"])[0]) is None
        # Whoever leaves out nothing does not make do with less.
        assert n_kept() is None


def test_a_search_learns_itself_if_that_takes_a_small_part_of_its_time(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=12)
        wanted = replace(WANTED, left_out=to_leave_out(kb, ["world-3-multiclass"]))

        assert recall_experience(kb, wanted, DESCRIBED, seconds=5.0) is None
        assert recall_experience(kb, wanted, DESCRIBED, seconds=20.0).lessons.n_datasets == 11


@pytest.mark.parametrize("n_datasets", [0, 1, 9])
def test_too_little_experience_is_no_experience(n_datasets):
    with open_kb(":memory:") as kb:
        fill(kb, n_datasets=n_datasets)

        assert recall_experience(kb, WANTED, DESCRIBED) is None
        assert count_datasets(kb, WANTED) == n_datasets


def test_regression_says_nothing_about_classes():
    with open_kb(":memory:") as kb:
        fill(kb, task="regression")

        assert recall_experience(kb, WANTED, DESCRIBED) is None
        assert count_datasets(kb, WANTED) == 0


def test_what_a_search_opens_with_is_read_without_the_rest(experienced, experience):
    at_hand = portfolio_at_hand(experienced, WANTED)

    assert at_hand.candidates == experience.lessons.portfolio.candidates
    assert at_hand.names == experience.lessons.portfolio.names
    assert np.array_equal(at_hand.levels, experience.lessons.portfolio.levels)


@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.lessons")), ids=lambda file: file.stem)
def test_an_initial_design_rests_on_as_much_as_the_whole_of_the_lessons_it_is_from(file):
    at_hand, whole = load_portfolio(file), load_lessons(file)

    assert (at_hand.n_runs, at_hand.n_taught) == (whole.n_runs, whole.n_datasets)


def test_a_data_set_that_is_left_out_does_not_open_a_search(experienced, experience):
    left_out = to_leave_out(experienced, ["world-5-multiclass"])

    assert portfolio_at_hand(experienced, LessonRequest("neg_log_loss", "multiclass", left_out=left_out)) is None


def test_lessons_are_learnt_anew_when_the_knowledge_base_has_grown(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=10)
        first = recall_experience(kb, WANTED, DESCRIBED, seconds=10_000.0)
        fill(kb, n_datasets=12)

        hurried = recall_experience(kb, WANTED, DESCRIBED, seconds=0.001)
        patient = recall_experience(kb, WANTED, DESCRIBED, seconds=10_000.0)

    assert first.lessons.n_datasets == hurried.lessons.n_datasets == 10
    assert "metaml learn renews them" in hurried.notes[0]
    assert patient.lessons.n_datasets == 12


def test_a_knowledge_base_takes_over_no_lessons_of_one_that_was_there_before(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=12)
        learn(kb, WANTED)
    (tmp_path / "kb.db").unlink()

    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=3)

        assert portfolio_at_hand(kb, WANTED) is None
        assert recall_experience(kb, WANTED, DESCRIBED, seconds=0.001) is None


def test_damaged_lessons_are_learnt_anew(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=10)
        learn(kb, WANTED)
        (place_of(kb) / WANTED.file_name).write_bytes(b"PK\x03\x04 broken")

        assert recall_experience(kb, WANTED, DESCRIBED).lessons.n_datasets == 10


@pytest.mark.usefixtures("experience")
def test_a_damaged_file_of_lessons_is_no_reason_to_fail(experienced, tmp_path):
    whole = (place_of(experienced) / WANTED.file_name).read_bytes()
    damaged = tmp_path / WANTED.file_name
    for place in range(0, len(whole), len(whole) // 40):
        damaged.write_bytes(whole[:place] + bytes(64) + whole[place + 64 :])

        load_portfolio(damaged)
        kept_lessons(tmp_path, WANTED)
        taught_by(damaged)


def test_what_was_thought_about_is_not_thought_about_again():
    thoughts = []
    recall = BackgroundTask(lambda: thoughts.append("a thought"))

    recall.wait()
    recall.wait()

    assert thoughts == ["a thought"]
