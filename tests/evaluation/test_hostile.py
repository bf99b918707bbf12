"""Learners that do their worst, in real processes, with short limits, on one machine and on a cluster."""

import os
import signal

import psutil
import pytest
from hostile_algorithms import REGISTRY

from metaml.evaluation import LocalExecutor
from tests.cluster_processes import SECONDS, is_running, wait_until


@pytest.fixture(scope="module", params=["local", "dask"])
def executor(request, two_classes, shared_cluster):
    if request.param == "local":
        with LocalExecutor(2, [two_classes], registry=REGISTRY, preload=()) as executor:
            yield executor
    else:
        with shared_cluster.executor(2, [two_classes], registry=REGISTRY) as executor:
            executor.cluster = shared_cluster
            yield executor


def pids_in(folder):
    return [int(path.name) for path in folder.iterdir()]


def fork_servers_of(executor):
    if isinstance(executor, LocalExecutor):
        return [psutil.Process(executor._fork_server._process.pid)]
    return [child for worker in executor.cluster.workers for child in psutil.Process(worker.pid).children()]


@pytest.mark.parametrize(
    ("algorithm", "config", "status", "error"),
    [
        ("Sleepy", {}, "timeout", "not done within 0.5 s"),
        ("Stubborn", {}, "timeout", "not done within 0.5 s"),
        ("Segfaulting", {}, "crashed", "the worker died of SIGSEGV"),
        ("Leaving", {"code": 0}, "crashed", "the worker left with exit code 0"),
        ("Leaving", {"code": 7}, "crashed", "the worker left with exit code 7"),
        ("KilledFromOutside", {}, "crashed", "the worker died of SIGKILL"),
        ("Patricide", {}, "crashed", "the worker died"),
    ],
)
def test_misbehaviour_is_contained_and_the_pool_goes_on(run, two_classes, ask, algorithm, config, status, error):
    outcome = run(ask(two_classes, algorithm, config, seconds=0.5 if status == "timeout" else SECONDS))

    assert (outcome.status, outcome.error) == (status, error)
    assert run(ask(two_classes, "Constant")).status == "ok"


@pytest.mark.parametrize(
    ("algorithm", "config"),
    [("Hungry", {}), ("GreedyAtOnce", {"megabytes": 400}), ("HungryChild", {})],
)
def test_memory_without_end_is_ended(run, two_classes, ask, algorithm, config):
    before = psutil.Process().memory_info().rss

    outcome = run(ask(two_classes, algorithm, config, megabytes=100))

    assert outcome.status == "memory"
    assert outcome.peak_megabytes > 100
    assert psutil.Process().memory_info().rss - before < 100e6


def test_printing_gigabytes_bothers_nobody(run, two_classes, ask, capfd):
    before = psutil.Process().memory_info().rss

    outcome = run(ask(two_classes, "Talkative", folds=(0,)))

    assert outcome.status == "partial"
    assert psutil.Process().memory_info().rss - before < 100e6
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("algorithm", "waits", "seconds", "status"),
    [("Forking", True, 1.5, "timeout"), ("ForkThenCrash", False, 300, "crashed"), ("Forking", False, 300, "partial")],
)
def test_forked_children_do_not_outlive_their_job(run, two_classes, ask, tmp_path, algorithm, waits, seconds, status):
    config = {"folder": str(tmp_path), "waits": waits}

    outcome = run(ask(two_classes, algorithm, config, seconds=seconds, folds=(0,)))

    # The worker retires after answering; the next job comes when it is gone.
    run(ask(two_classes, "Constant"))
    run(ask(two_classes, "Constant"))
    assert outcome.status == status
    assert len(pids_in(tmp_path)) == 2
    assert not any(is_running(pid) for pid in pids_in(tmp_path))


def test_children_of_another_job_do_not_outlive_a_killed_fork_server(executor, two_classes, ask, tmp_path):
    executor.submit(ask(two_classes, "Forking", {"folder": str(tmp_path), "waits": True}))
    wait_until(lambda: len(pids_in(tmp_path)) == 2)
    executor.submit(ask(two_classes, "Patricide"))

    statuses = [executor.next(SECONDS)[1].status for _ in range(2)]

    executor.submit(ask(two_classes, "Constant"))
    assert executor.next(SECONDS)[1].status == "ok"
    assert statuses == ["crashed", "crashed"]
    assert not any(is_running(pid) for pid in pids_in(tmp_path))


def test_a_worker_left_with_threads_is_replaced(run, two_classes, ask):
    outcome = run(ask(two_classes, "Threaded"))

    assert outcome.status == "ok"
    assert run(ask(two_classes, "Constant")).status == "ok"


def test_rubbish_on_the_line_is_a_crash(run, two_classes, ask):
    outcome = run(ask(two_classes, "Garrulous"))

    assert outcome.status == "crashed"
    assert run(ask(two_classes, "Constant")).status == "ok"


def test_a_worker_killed_while_idle_costs_nothing(executor, run, two_classes, ask):
    run(ask(two_classes, "Constant"))
    for fork_server in fork_servers_of(executor):
        for worker in fork_server.children():
            os.kill(worker.pid, signal.SIGKILL)

    outcomes = [run(ask(two_classes, "Constant")) for _ in range(4)]

    assert {outcome.status for outcome in outcomes} == {"ok"}


def test_a_fork_server_killed_while_idle_costs_nothing(executor, run, two_classes, ask):
    run(ask(two_classes, "Constant"))
    fork_servers = fork_servers_of(executor)
    family = [process for fork_server in fork_servers for process in (fork_server, *fork_server.children())]
    for fork_server in fork_servers:
        fork_server.kill()
    wait_until(lambda: not any(is_running(process.pid) for process in family))

    outcomes = [run(ask(two_classes, "Constant")) for _ in range(4)]

    assert {outcome.status for outcome in outcomes} == {"ok"}
