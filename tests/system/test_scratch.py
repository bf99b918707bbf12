"""Scratch folders: one in use is never removed, and nothing is left of a process that was killed."""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from metaml.system.scratch import FRESH_SECONDS, Scratch

OWNER = (
    "from metaml.system.scratch import Scratch; s = Scratch().open(); (s.folder / 'big').touch(); "
    "print(s.folder, flush=True); "
)


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def age(folder):
    old = folder.stat().st_mtime - FRESH_SECONDS - 1
    os.utime(folder, (old, old))


def owner(place):
    """Return a process with a scratch folder, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER + "input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )
    return process, place / process.stdout.readline().strip()


def test_a_closed_one_is_gone(place):
    scratch = Scratch().open()
    (scratch.folder / "file").write_text("content")

    scratch.close()

    assert list(place.iterdir()) == []


def test_one_in_use_is_left_alone_however_old_it_is(place):
    process, folder = owner(place)
    with process:
        age(folder)

        Scratch().open().close()

        assert (folder / "big").exists()
        process.kill()


def test_one_of_a_killed_process_is_removed_by_the_next(place):
    process, folder = owner(place)
    with process:
        process.send_signal(signal.SIGKILL)
    age(folder)

    Scratch().open().close()

    assert not folder.exists()


def test_one_that_is_being_made_and_folders_of_other_names_are_left_alone(place):
    for name in ("metaml-scratch-new", "metaml-output"):
        (place / name).mkdir()
    age(place / "metaml-output")

    Scratch().open().close()

    assert sorted(path.name for path in place.iterdir()) == ["metaml-output", "metaml-scratch-new"]
