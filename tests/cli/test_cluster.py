"""`metaml cluster` and `metaml worker` in processes of their own, and what a scheduler's address may be."""

import os
import signal
import socket
import subprocess
import sys

import psutil
import pytest
from typer.testing import CliRunner

from metaml.cluster import DaskExecutor, scheduler_address
from metaml_cli.main import app
from tests.cluster_processes import PATHS, finish, is_running, wait_until


def start(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "metaml_cli", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def url():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{probe.getsockname()[1]}"


def test_a_cluster_on_this_machine_evaluates_and_ends_with_its_command(url, two_classes):
    from hostile_algorithms import REGISTRY

    from metaml.evaluation import Job, Limits, make_plan

    job = Job(two_classes.fingerprint, "Constant", {}, make_plan(two_classes, 2), 0, Limits(300.0))
    command = start("cluster", "--workers", "1", "--port", url.rpartition(":")[2])
    try:
        with socket.socket() as probe:
            wait_until(lambda: probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0)
        with DaskExecutor(scheduler_address(url), None, [two_classes], registry=REGISTRY, preload=()) as executor:
            assert [outcome.status for outcome in finish(executor, [job])] == ["ok"]
        pids = [child.pid for child in psutil.Process(command.pid).children(recursive=True)]

        command.send_signal(signal.SIGINT)

        assert command.wait(300) == 0
        wait_until(lambda: not any(is_running(pid) for pid in pids))
    finally:
        command.kill()
        command.wait()


@pytest.mark.parametrize("words", [["tune", "x.csv"], ["bot", "--builtin"], ["worker"]])
def test_an_open_scheduler_beyond_this_machine_is_refused_in_one_sentence(words):
    result = CliRunner().invoke(app, [*words, "--scheduler", "tcp://10.0.0.1:8786"])

    assert result.exit_code == 2
    assert "openssl req" in result.output
    assert "Traceback" not in result.output
