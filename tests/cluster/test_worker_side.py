"""Inside a Dask worker: an evaluation ends when its task is cancelled, and everything ends with the executor."""

import asyncio
import time

import psutil
import pytest
from distributed import Client

from metaml.cluster import worker_side
from metaml.cluster.worker_side import NotInstalled, SideSettings, WorkerSide
from tests.cluster_processes import finish, is_running, wait_until


def processes_below(cluster):
    return [child for worker in cluster.workers for child in psutil.Process(worker.pid).children(recursive=True)]


def test_an_evaluation_is_killed_when_its_task_is_cancelled(cluster, two_classes, ask, hostile, tmp_path):
    # This pins a name of Dask's own, the state "cancelled" of a task that is running.
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        ticket = executor.submit(ask(two_classes, "Gated", {"folder": str(tmp_path)}))
        wait_until(lambda: (tmp_path / "begun").exists())
        evaluating = int((tmp_path / "begun").read_text())

        executor.cancel(ticket)

        wait_until(lambda: not is_running(evaluating))
        assert [outcome.status for outcome in finish(executor, [ask(two_classes, "Constant")])] == ["ok"]


def test_nothing_is_left_on_the_workers_when_an_executor_closes(cluster, two_classes, ask, hostile):
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        executor.submit(ask(two_classes, "Sleepy"))
        wait_until(lambda: len(processes_below(cluster)) == 2)

    wait_until(lambda: processes_below(cluster) == [])
    assert processes_below(cluster) == []


def test_evaluators_that_arrive_after_their_executor_has_gone_are_not_kept(cluster, hostile):
    with cluster.executor(**hostile) as executor:
        session = executor._engine._session
    wait_until(lambda: processes_below(cluster) == [])

    with Client(cluster.url, set_as_default=False) as client, pytest.raises(NotInstalled):
        client.run(worker_side.install, session, SideSettings(preload=(), **hostile))

    assert processes_below(cluster) == []


def fork_servers():
    children = psutil.Process().children()
    return {child.pid for child in children if "fork_server_program" in " ".join(child.cmdline())}


class SlowSettings:
    """Settings that take a moment to read, so that evaluators are removed while they start."""

    def __init__(self, registry):
        self.registry, self.preload, self.evaluator = registry, (), worker_side.ISOLATED

    @property
    def n_threads(self):
        time.sleep(0.2)
        return 1


def test_evaluators_that_are_removed_while_they_start_leave_nothing(hostile):
    side, of_other_tests = WorkerSide("session", SlowSettings(**hostile)), fork_servers()

    async def start_and_remove():
        await asyncio.gather(side.setup(None), side.teardown(None))

    asyncio.run(start_and_remove())

    assert not fork_servers() - of_other_tests


def test_folds_of_a_job_under_way_can_be_taken_when_it_is_cancelled(cluster, two_classes, ask, hostile, tmp_path):
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        config = {"folder": str(tmp_path), "free_fits": 1}
        ticket = executor.submit(ask(two_classes, "Gated", config, keep_models=True, tells_folds=True))
        # The second fold has begun, so the first is done and told; the worker must have read it.
        wait_until(lambda: (tmp_path / "begun").exists())
        time.sleep(0.5)

        executor.cancel(ticket)

        assert len(executor.take_folds(ticket)) == 1
        assert executor.take_folds(ticket) == ()
