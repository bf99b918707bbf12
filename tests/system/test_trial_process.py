"""What may crash is tried in a fresh interpreter: its end is told, and this process goes on."""

import os
import subprocess
import sys
from importlib import import_module

import psutil
import pytest

from metaml.system.trial_process import kept_trials, survives
from tests.cluster_processes import is_running, wait_until

HERE = "trials_to_survive"
FUNCTIONS = """
import os, pathlib, signal, threading, time
n_calls, lock = 0, threading.Lock()

def take_lock(content):
    assert lock.acquire()

def last_wish(content):
    if content.startswith(b"stay "):
        file = pathlib.Path(os.fsdecode(content[5:]))
        file.with_suffix(".new").write_text(str(os.getpid()))
        file.with_suffix(".new").rename(file)
        content = b"hang"
    {b"die": os.abort, b"fall": lambda: os.kill(os.getpid(), signal.SIGSEGV), b"hang": lambda: time.sleep(3600),
     b"leave": lambda: os._exit(0), b"raise": lambda: 1 / 0, b"talk": lambda: print("s" * 99, flush=True)}[content]()

def is_first(content):
    global n_calls
    n_calls += 1
    assert n_calls == 1

def large(content):
    assert len(content) == 3_000_000

def grow(content):
    bytearray(int(content))
"""


@pytest.fixture(autouse=True)
def functions(tmp_path, monkeypatch):
    (tmp_path / f"{HERE}.py").write_text(FUNCTIONS)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, HERE, raising=False)


@pytest.mark.parametrize("ending", [b"die", b"fall", b"leave", b"raise", b"unknown"])
def test_any_end_but_a_return_is_told_and_stays_silent(ending, capfd):
    assert not survives(f"{HERE}:last_wish", ending)
    assert capfd.readouterr() == ("", "")


def test_what_hangs_is_killed():
    before = {child.pid for child in psutil.Process().children()}

    assert not survives(f"{HERE}:last_wish", b"hang", seconds=0.2)
    assert {child.pid for child in psutil.Process().children()} <= before


def test_memory_is_limited():
    assert survives(f"{HERE}:grow", b"1000000", megabytes=100)
    assert not survives(f"{HERE}:grow", b"900000000", megabytes=100)


def test_what_is_printed_is_no_answer_and_a_large_content_arrives_whole():
    assert survives(f"{HERE}:last_wish", b"talk")
    assert survives(f"{HERE}:large", bytes(3_000_000))


def test_one_process_serves_the_trials_of_a_block_and_another_one_follows_a_crash():
    with kept_trials():
        first, second = survives(f"{HERE}:is_first", b""), survives(f"{HERE}:is_first", b"")
        ends = [survives(f"{HERE}:last_wish", wish) for wish in (b"talk", b"die", b"talk")]

    assert (first, second) == (True, False)
    assert ends == [True, False, True]
    assert survives(f"{HERE}:is_first", b"")


def test_a_block_within_a_block_uses_its_processes():
    with kept_trials():
        with kept_trials():
            first = survives(f"{HERE}:is_first", b"")
        second = survives(f"{HERE}:is_first", b"")

    assert (first, second) == (True, False)


def test_a_lock_that_a_thread_of_this_process_holds_stops_no_trial():
    # A fork would copy the lock as taken and wait for it.
    with import_module(HERE).lock:
        assert survives(f"{HERE}:take_lock", b"")


def test_a_process_that_does_not_start_is_an_error_and_not_a_verdict():
    with pytest.raises(OSError, match="did not start"):
        survives("no_such_module:anything", b"")


def test_a_trial_that_hangs_ends_also_if_this_process_is_killed(tmp_path):
    file = tmp_path / "pid"
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "import os, pathlib, threading, time\n"
        "from metaml.system.trial_process import survives\n"
        "def leave():\n"
        f"    while not os.path.exists({str(file)!r}): time.sleep(0.01)\n"
        "    os._exit(3)\n"
        "threading.Thread(target=leave).start()\n"
        f"survives('{HERE}:last_wish', b'stay ' + {os.fsencode(file)!r}, seconds=0.5)\n"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 3

    wait_until(lambda: not is_running(int(file.read_text())))
