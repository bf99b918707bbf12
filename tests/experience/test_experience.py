"""What a knowledge base contributes: lessons that are kept, an initial design, judges, reasons."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.experience.experience import BackgroundTask, recall_experience
from metaml.experience.lesson_files import (
    count_datasets,
    learn,
    place_of,
)
from metaml.experience.load_history import to_leave_out
from metaml_kb import open_kb
from tests.experienced import DESCRIBED, WANTED, fill


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
        name: experience.committee(name, (), use="process", metric="neg_log_loss", cost=None, rule="").guard
        for name in WANTED.algorithms
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


def test_damaged_lessons_are_learnt_anew(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb, n_datasets=10)
        learn(kb, WANTED)
        (place_of(kb) / WANTED.file_name).write_bytes(b"PK\x03\x04 broken")

        assert recall_experience(kb, WANTED, DESCRIBED).lessons.n_datasets == 10


def test_what_was_thought_about_is_not_thought_about_again():
    thoughts = []
    recall = BackgroundTask(lambda: thoughts.append("a thought"))

    recall.wait()
    recall.wait()

    assert thoughts == ["a thought"]
