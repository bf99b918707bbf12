"""Opening a knowledge base, and what it says about itself."""

import pytest

from metaml_kb import DatasetRecord, open_kb
from metaml_kb.errors import CannotOpen


def test_a_missing_file_is_not_made_by_a_question(tmp_path):
    with pytest.raises(CannotOpen, match="metaml kb init"):
        open_kb(tmp_path / "none.db", create=False)

    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_knowledge_base(tmp_path):
    with pytest.raises(CannotOpen, match="is a folder"):
        open_kb(tmp_path)


def test_the_environment_names_the_default(monkeypatch, tmp_path):
    monkeypatch.setenv("METAML_KB", str(tmp_path / "mine.db"))

    with open_kb() as kb:
        assert kb.name == str(tmp_path / "mine.db")


def test_an_empty_file_is_left_empty_by_a_question(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()

    with pytest.raises(CannotOpen, match=r"is empty.*metaml kb init"):
        open_kb(path, create=False)

    assert path.stat().st_size == 0
    assert list(tmp_path.iterdir()) == [path]


def test_a_closed_knowledge_base_can_be_opened_again(tmp_path, run_of):
    with open_kb(tmp_path / "kb.db") as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        kb.add_run(run_of(1))

    with open_kb(tmp_path / "kb.db", create=False) as again:
        assert again.n_runs() == 1
        assert repr(again) == f"KnowledgeBase({str(tmp_path / 'kb.db')!r})"


def test_every_knowledge_base_has_a_key_of_its_own(tmp_path):
    with open_kb(tmp_path / "a.db") as first, open_kb(tmp_path / "b.db") as second, open_kb(tmp_path / "a.db") as same:
        assert first.key() == same.key() != second.key()


def test_events_of_a_session_come_back_in_their_order(kb):
    session = kb.start_session("tune")
    kb.add_events(session, [("asked", {"n": 1}), ("finished", {"n": 1})])

    assert list(kb.events(session)) == [("asked", {"n": 1}), ("finished", {"n": 1})]
    assert kb.has_session("tune")
    assert not kb.has_session("starter")
