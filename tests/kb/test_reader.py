"""What can be asked of a knowledge base that somebody else writes to."""

import multiprocessing

import pytest

from metaml_kb import DatasetRecord, open_kb
from metaml_kb.errors import BadQuery


def test_a_question_sees_what_another_program_has_stored(tmp_path):
    with open_kb(tmp_path / "kb.db") as reader, open_kb(tmp_path / "kb.db") as writer:
        before = reader.revision()

        writer.add_dataset(DatasetRecord("f" * 32, "iris"))

        assert reader.datasets()["name"].tolist() == ["iris"]
        assert reader.revision() != before


def test_a_forked_process_asks_over_connections_of_its_own(tmp_path, run_of):
    with open_kb(tmp_path / "kb.db") as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        kb.add_run(run_of(1))
        context = multiprocessing.get_context("fork")
        answers = context.SimpleQueue()

        child = context.Process(target=lambda: answers.put(kb.n_runs()))
        child.start()
        child.join()

        assert answers.get() == kb.n_runs() == 1


def test_predictions_that_were_not_stored_are_refused(kb):
    with pytest.raises(BadQuery):
        kb.predictions("f" * 32)
