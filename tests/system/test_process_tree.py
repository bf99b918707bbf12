"""A process ends with its parent."""

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil

from metaml.system import process_tree

ROOT = Path(__file__).parents[2]


def is_gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_descendants_are_found_and_killed_with_their_children():
    sleeper = "import subprocess, sys; subprocess.run(['sleep', '3600'])"
    with subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True) as parent:
        while not (found := process_tree.descendants(parent.pid)):
            time.sleep(0.01)

        process_tree.kill_all(found)
        process_tree.kill_group(parent.pid)
        psutil.wait_procs(found, timeout=30)

    assert all(is_gone(process.pid) for process in [*found, parent])
    assert process_tree.descendants(parent.pid) == []


def test_processes_are_found_by_the_mark_that_they_inherit():
    mark = uuid.uuid4().hex
    with subprocess.Popen(["sleep", "3600"], env={**os.environ, "METAML_TEST_MARK": mark}) as process:
        found = process_tree.started_with("METAML_TEST_MARK", mark)
        process.kill()

    assert [one.pid for one in found] == [process.pid]


def test_a_watching_thread_ends_a_process_where_the_kernel_does_not():
    # The middle process starts the last one and leaves; the last one prints its own pid.
    program = (
        "import os, sys, time\n"
        "from metaml.system import process_tree\n"
        "process_tree._prctl = lambda option, value: False\n"
        "ready, told = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    process_tree.die_with(os.getppid())\n"
        "    print(os.getpid(), flush=True)\n"
        "    os.write(told, b'x')\n"
        "    time.sleep(3600)\n"
        "os.read(ready, 1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, timeout=30)

    # The pipe closes, and `run` returns, when the process that was left behind ends.
    left = int(done.stdout)
    deadline = time.monotonic() + 10
    while not is_gone(left) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert is_gone(left)
