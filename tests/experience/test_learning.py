"""Learn all that a knowledge base teaches, and judge what it is worth."""

import pytest

from metaml.errors import BadRequest
from metaml.experience.learning import memory_verdicts, requests_for
from metaml_kb import open_kb
from tests.experienced import fill


def test_lessons_are_asked_for_each_kind_of_task():
    with open_kb(":memory:") as kb:
        fill(kb)

        assert [request.metric for request in requests_for(kb)] == ["neg_log_loss"]


def test_a_knowledge_base_without_data_sets_teaches_nothing():
    with open_kb(":memory:") as kb, pytest.raises(BadRequest, match="no data set to learn from"):
        requests_for(kb)


def test_each_size_and_number_of_evaluations_gets_a_verdict():
    with open_kb(":memory:") as kb:
        fill(kb)
        found = memory_verdicts(kb, requests_for(kb))

    assert len(found) == 4 * 4
    assert set(found["verdict"]) <= {"pays", "costs", "no difference found", "cannot be said"}
    assert found.set_index(["rows", "evaluations"])["verdict"]["10,000 and more", 3] == "cannot be said"


def test_nothing_is_said_of_a_knowledge_base_that_knows_too_few_data_sets():
    notes: list[str] = []
    with open_kb(":memory:") as kb:
        fill(kb)
        requests = requests_for(kb)
    with open_kb(":memory:") as empty:
        assert memory_verdicts(empty, requests, on_note=notes.append).empty

    assert "cannot be said" in notes[-1]
