"""Processes of a cluster on this machine come back when they die, and end with the one that started them."""

import os
import signal
import socket
import subprocess
import sys

import psutil
import pytest

from metaml.cluster import scheduler_address
from metaml.cluster.supervisor import SCHEDULER, WORKER, check_port, scheduler_command, worker_command
from metaml.errors import BadRequest
from tests.cluster_processes import PATHS, is_running, wait_until

PROGRAM = """
import sys
from metaml.cluster.supervisor import Supervisor
Supervisor([lambda: ["sleeper", sys.argv[1]]], on_note=lambda note: print(note, flush=True)).run()
"""


@pytest.fixture
def supervisor(tmp_path):
    """Start a supervisor of a process that only sleeps; its number is in a file."""
    (tmp_path / "sleeper.py").write_text(
        "import os, pathlib, sys, time; pathlib.Path(sys.argv[1], str(os.getpid())).touch(); time.sleep(3600)"
    )
    (tmp_path / "pids").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "pids")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *PATHS])},
        stdout=subprocess.DEVNULL,
    )
    yield process, lambda: sorted(int(path.name) for path in (tmp_path / "pids").iterdir())
    process.kill()
    process.wait()


def test_a_process_that_dies_comes_back_and_ends_with_its_supervisor(supervisor):
    process, pids = supervisor
    wait_until(lambda: len(pids()) == 1)

    os.kill(pids()[0], signal.SIGKILL)

    wait_until(lambda: len(pids()) == 2)
    process.terminate()
    assert process.wait(300) == 0
    assert not any(is_running(pid) for pid in pids())


def test_processes_do_not_outlive_a_supervisor_that_is_killed(supervisor):
    process, pids = supervisor
    wait_until(lambda: len(pids()) == 1)
    child = psutil.Process(pids()[0])

    process.kill()

    wait_until(lambda: not is_running(child.pid))
    assert not is_running(child.pid)


def test_a_worker_of_this_machine_listens_on_it_alone():
    words = worker_command(scheduler_address("tcp://127.0.0.1:8786"), n_slots=3)()

    assert words[:4] == [WORKER, "tcp://127.0.0.1:8786", "--host", "127.0.0.1"]
    assert words[words.index("--nthreads") + 1] == "3"
    assert scheduler_command(8786)()[:3] == [SCHEDULER, "--host", "127.0.0.1"]


def test_a_port_that_is_taken_is_refused(free_port):
    check_port(free_port)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port))
        taken.listen()
        with pytest.raises(BadRequest, match="is taken"):
            check_port(free_port)
