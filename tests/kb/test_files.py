"""A file that another program deletes or replaces: noticed, told and rescued; the new file stays as it is."""

import shutil
from pathlib import Path

import pytest

from metaml_kb import open_kb
from metaml_kb.errors import FileReplaced
from metaml_kb.files import kept_safe
from metaml_kb.transfer import merge


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    with open_kb(path.with_name("new.db")):
        pass
    path.with_name("new.db").rename(path)


def leftovers(path: Path) -> list[str]:
    return sorted(other.name for other in path.parent.glob(f"{path.name}*") if other != path)


@pytest.mark.parametrize("change", [delete, replace])
def test_a_file_that_is_gone_is_neither_read_nor_written_nor_made_again(kb, run_of, tmp_path, change):
    kb.add_run(run_of(1))
    change(tmp_path / "kb.db")
    was_there = (tmp_path / "kb.db").exists()

    with pytest.raises(FileReplaced, match="while it was in use"):
        kb.add_run(run_of(2))
    with pytest.raises(FileReplaced):
        kb.runs()
    # Without a connection that is still open, too.
    kb.close()
    with pytest.raises(FileReplaced):
        kb.runs()

    assert (tmp_path / "kb.db").exists() == was_there


@pytest.mark.parametrize("change", [delete, replace])
def test_all_runs_of_a_file_that_is_gone_are_rescued(kb, run_of, tmp_path, change):
    told: list[str] = []
    kb.add_runs(run_of(n) for n in range(3))
    change(tmp_path / "kb.db")

    added = kept_safe(kb, lambda: kb.add_run(run_of(3)), told.append)
    kept_safe(kb, lambda: kb.add_run(run_of(4)), told.append)
    kb.close()

    assert added.n_new == 1
    assert len(told) == 1
    assert f"metaml kb merge {tmp_path / 'kb.db'} {kb.name}" in told[0]
    assert leftovers(tmp_path / "kb.db") == []
    with open_kb(kb.name, create=False) as rescued, open_kb(tmp_path / "kb.db") as new:
        assert len(rescued.runs()) == 5
        assert merge(new, rescued).n_runs == 5


def test_a_file_that_cannot_be_rescued_is_told(kb, run_of, tmp_path, monkeypatch):
    kb.add_run(run_of(1))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    shutil.rmtree(tmp_path)

    with pytest.raises(FileReplaced, match="was deleted or moved while it was in use"):
        kept_safe(kb, lambda: kb.add_run(run_of(2)), lambda _: None)
