"""Lessons: learnt once, kept beside the knowledge base, and read by the sessions they fit."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.experience.experience import recall_experience
from metaml.experience.lesson_files import (
    SHIPPED,
    LessonRequest,
    is_in_file,
    kept_lessons,
    learn,
    lessons_of_revision,
    place_of,
    portfolio_at_hand,
    stand_in_lessons,
)
from metaml.experience.load_history import to_leave_out
from metaml.metalearning.lessons import load_lessons, load_portfolio, taught_by
from metaml_kb import open_kb
from tests.experienced import DESCRIBED, WANTED, fill


def test_lessons_are_kept_beside_the_knowledge_base_and_say_the_same(experienced, experience):
    kept = load_lessons(place_of(experienced) / WANTED.file_name)

    config = ALGORITHMS["decision_tree"].space("multiclass").default()
    again = kept.trained["decision_tree"].learner.predict([config], DESCRIBED)

    assert again.tolist() == experience.lessons.trained["decision_tree"].learner.predict([config], DESCRIBED).tolist()
    assert kept.n_datasets == 14
    assert kept.runtimes["k_neighbors"].predict([{"n_neighbors": 5}], DESCRIBED) == pytest.approx([0.06], rel=0.5)
    assert kept.prior.expect(DESCRIBED) == experience.lessons.prior.expect(DESCRIBED)


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


def test_what_a_search_opens_with_is_read_without_the_rest(experienced, experience):
    at_hand = portfolio_at_hand(experienced, WANTED)

    assert at_hand.candidates == experience.lessons.portfolio.candidates
    assert at_hand.names == experience.lessons.portfolio.names
    assert np.array_equal(at_hand.levels, experience.lessons.portfolio.levels)


@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.lessons")), ids=lambda file: file.stem)
def test_an_opening_rests_on_as_much_as_the_whole_of_the_lessons_it_is_from(file):
    at_hand, whole = load_portfolio(file), load_lessons(file)

    assert (at_hand.n_runs, at_hand.n_taught) == (whole.n_runs, whole.n_datasets)


def test_a_data_set_that_is_left_out_does_not_open_a_search(experienced, experience):
    left_out = to_leave_out(experienced, ["world-5-multiclass"])

    assert portfolio_at_hand(experienced, LessonRequest("neg_log_loss", "multiclass", left_out=left_out)) is None


def test_a_knowledge_base_takes_over_no_lessons_of_one_that_was_there_before(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=12)
        learn(kb, WANTED)
    (tmp_path / "kb.db").unlink()

    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=3)

        assert portfolio_at_hand(kb, WANTED) is None
        assert recall_experience(kb, WANTED, DESCRIBED, seconds=0.001) is None


def test_of_a_damaged_file_of_lessons_nothing_is_read_that_was_not_written(experienced, experience, tmp_path):
    whole = (place_of(experienced) / WANTED.file_name).read_bytes()
    damaged = tmp_path / WANTED.file_name
    n_unreadable = 0
    for place in range(0, len(whole), len(whole) // 40):
        damaged.write_bytes(whole[:place] + bytes(64) + whole[place + 64 :])

        portfolio, lessons, taught = load_portfolio(damaged), kept_lessons(tmp_path, WANTED), taught_by(damaged)

        assert portfolio is None or portfolio.candidates == experience.lessons.portfolio.candidates
        assert lessons is None or lessons.names == experience.lessons.names
        assert taught is None or taught == frozenset(experience.lessons.names)
        n_unreadable += lessons is None
    assert n_unreadable > 30


def test_lessons_are_named_by_what_they_are_for():
    assert WANTED.file_name == "neg_log_loss-classification.lessons"
    without = {replace(WANTED, left_out=names).file_name for names in (("a",), ("b",), ("a", "b"), ("b", "a"))}
    assert len(without) == 3


def test_lessons_of_a_session_are_found_by_their_revision(experienced, experience):
    found = lessons_of_revision(experienced, WANTED, experience.lessons.revision)

    assert found is not None
    assert found.revision == experience.lessons.revision
    assert lessons_of_revision(experienced, WANTED, "another") is None


@pytest.mark.usefixtures("experience")
def test_lessons_by_the_usual_metric_stand_in_for_those_by_another(experienced):
    place = place_of(experienced)

    assert stand_in_lessons(experienced, WANTED, place) is None
    assert stand_in_lessons(experienced, replace(WANTED, metric="accuracy"), place).metric == WANTED.metric


def test_a_knowledge_base_in_memory_keeps_no_lessons():
    with open_kb(":memory:") as kb:
        assert place_of(kb) is None
        assert not is_in_file(kb)
        assert kept_lessons(None, WANTED) is None
