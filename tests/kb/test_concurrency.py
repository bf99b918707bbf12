"""Many writers, readers in between, and writers killed at any moment: nothing acknowledged is lost."""

import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from metaml_kb import DatasetRecord, engine, open_kb
from metaml_kb.engine import writing
from metaml_kb.errors import CannotOpen

WRITERS = """
import os, sys
from metaml_kb import Run, open_kb
path, writers, n = sys.argv[1], list(map(int, sys.argv[2].split(","))), int(sys.argv[3])
# Each writer is a process, forked before anything is open: importing takes longer than writing.
writer = next((other for other in writers[1:] if os.fork() == 0), writers[0])
with open_kb(path) as kb:
    for i in range(n):
        kb.add_run(Run(dataset="f" * 32, algorithm="a", config={"i": i}, seed=writer, scores={"accuracy": [0.5, 1.0]}))
        print(i, flush=True)
if writer == writers[0]:
    assert all(os.wait()[1] == 0 for _ in writers[1:])
"""


def start(path, writers, n) -> subprocess.Popen:
    command = [sys.executable, "-c", WRITERS, str(path), ",".join(map(str, writers)), str(n)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def is_sound(path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()


def test_eight_writers_and_a_reader_share_one_file(tmp_path):
    path, n_writers, n_runs = tmp_path / "kb.db", 8, 20
    with open_kb(path) as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        writers = start(path, range(n_writers), n_runs)
        seen = [len(kb.runs())]
        while writers.poll() is None:
            seen.append(len(kb.runs()))
        complaints = writers.communicate()[1]
        total = len(kb.runs())

    assert (writers.returncode, complaints) == (0, "")
    assert total == n_writers * n_runs
    assert seen == sorted(seen)
    assert is_sound(path)


def test_a_killed_writer_loses_nothing_it_was_told_is_stored(tmp_path):
    path, rng = tmp_path / "kb.db", random.Random(7)
    with open_kb(path) as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris"))
    for number in range(3):
        writer = start(path, [number], 100_000)
        assert writer.stdout is not None
        acknowledged = [writer.stdout.readline()]
        time.sleep(rng.uniform(0.0, 0.3))
        writer.send_signal(signal.SIGKILL)
        # What was read ahead with the first line is passed over by communicate().
        acknowledged += writer.stdout.read().splitlines()
        writer.communicate()

        with open_kb(path) as kb:
            frame = kb.runs()
            mine = frame[frame["seed"] == number]
            rows = kb.sql("SELECT count(*) AS n FROM run WHERE seed = :seed", {"seed": number})["n"][0]

        # At most the run in flight was stored without being acknowledged.
        assert 0 <= len(mine) - len([line for line in acknowledged if line.strip()]) <= 1
        assert len(mine) == rows
        assert mine["accuracy"].eq(0.75).all()
    assert is_sound(path)


def test_a_forked_child_gets_connections_of_its_own(tmp_path):
    path = tmp_path / "kb.db"
    script = """
import os, sys
from metaml_kb import DatasetRecord, Run, open_kb
kb = open_kb(sys.argv[1])
kb.add_dataset(DatasetRecord("f" * 32, "iris"))
child = os.fork()
for i in range(20):
    kb.add_run(Run(dataset="f" * 32, algorithm="a", config={"i": i}, seed=int(child == 0)))
if child:
    os.waitpid(child, 0)
    assert len(kb.runs()) == 40, len(kb.runs())
os._exit(0)
"""

    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert is_sound(path)


def test_a_database_that_another_program_holds_is_not_waited_for_for_ever(postgres_url, monkeypatch):
    url = postgres_url("held")
    with open_kb(url) as kb, open_kb(url) as other, writing(other.engine):
        monkeypatch.setattr(engine, "BUSY_SECONDS", 1)

        with pytest.raises(CannotOpen, match="locked by another program for 1 seconds"):
            kb.add_dataset(DatasetRecord("f" * 32, "iris"))
