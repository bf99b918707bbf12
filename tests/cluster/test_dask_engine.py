"""The connection to a Dask cluster: data sets, deadlines, certificates, and a scheduler that comes back."""

import os
import signal

import psutil
import pytest

from metaml.cluster import DaskExecutor, dask_engine, scheduler_address
from metaml.cluster.dispatcher import AttemptTimeouts
from metaml.errors import BadRequest
from tests.cluster_processes import SECONDS, Cluster, finish, wait_until


def test_a_data_set_is_sent_once_to_each_worker_also_to_one_that_comes_later(cluster, two_classes, ask, hostile):
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        finish(executor, [ask(two_classes, "Constant", seed=seed) for seed in range(3)])
        cluster.start_worker(n_slots=1)
        wait_until(lambda: executor.n_workers == 3)
        finish(executor, [ask(two_classes, "Sleepy", {"seconds": 0.1}, seed=seed) for seed in range(6)])

        assert len(executor.n_transfers) == 2
        assert set(executor.n_transfers.values()) == {1}


def test_jobs_go_on_after_the_scheduler_has_come_back(cluster, two_classes, ask, hostile):
    notes = []
    with cluster.executor(datasets=[two_classes], on_note=notes.append, **hostile) as executor:
        jobs = [ask(two_classes, "Sleepy", {"seconds": 0.2}, seed=seed) for seed in range(4)]
        for job in jobs:
            executor.submit(job)
        first = executor.next(SECONDS)
        cluster.kill(cluster.scheduler)
        wait_until(lambda: cluster.workers[0].poll() is not None)
        cluster.restore()

        others = [executor.next(SECONDS) for _ in jobs[1:]]

        assert {id(job) for job, _ in [first, *others]} == {id(job) for job in jobs}
        assert {outcome.status for _, outcome in others} == {"ok"}
        assert any("broke" in note for note in notes)


def test_jobs_go_on_after_the_connection_has_broken_while_the_scheduler_lives(cluster, two_classes, ask, hostile):
    # Dask connects again by itself, so soon that it is easily missed; but the scheduler has cleaned up by then.
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        jobs = [ask(two_classes, "Sleepy", {"seconds": 0.2}, seed=seed) for seed in range(4)]
        for job in jobs:
            executor.submit(job)
        first = executor.next(SECONDS)
        stream = executor._engine._client.scheduler_comm.comm
        executor._call(stream.abort)

        others = [executor.next(SECONDS) for _ in jobs[1:]]

        assert {id(job) for job, _ in [first, *others]} == {id(job) for job in jobs}
        assert {outcome.status for _, outcome in others} == {"ok"}


def test_a_stopped_worker_loses_its_job_by_the_deadline_and_is_used_again_later(
    cluster, two_classes, ask, hostile, tmp_path
):
    patience = AttemptTimeouts(start_seconds=SECONDS, grace_seconds=0.3)
    with cluster.executor(datasets=[two_classes], patience=patience, **hostile) as executor:
        executor.submit(ask(two_classes, "Gated", {"folder": str(tmp_path)}, seconds=2.0))
        wait_until(lambda: (tmp_path / "begun").exists())
        os.kill(cluster.workers[0].pid, signal.SIGSTOP)
        (tmp_path / "open").touch()
        second = cluster.start_worker()

        _, outcome = executor.next(SECONDS)

        os.kill(cluster.workers[0].pid, signal.SIGCONT)
        assert outcome.status == "ok"
        cluster.kill(second)
        assert [found.status for found in finish(executor, [ask(two_classes, "Constant")])] == ["ok"]


def test_a_worker_that_does_not_answer_at_first_is_asked_again(cluster, two_classes, ask, hostile, monkeypatch):
    with cluster.executor(**hostile):
        """The worker has joined the cluster."""
    monkeypatch.setattr(dask_engine, "INSTALL_SECONDS", 1.0)
    silent, notes = psutil.Process(cluster.workers[0].pid), []
    silent.suspend()
    other = cluster.start_worker(n_slots=1)
    with cluster.executor(datasets=[two_classes], on_note=notes.append, **hostile) as executor:
        wait_until(lambda: any("it will be asked again" in note for note in notes))

        silent.resume()

        wait_until(lambda: executor.n_workers == 3)
        assert executor.refused_workers == {}
        cluster.kill(other)
        assert [found.status for found in finish(executor, [ask(two_classes, "Constant")])] == ["ok"]


def test_a_worker_that_has_lost_its_evaluators_gets_them_again(cluster, two_classes, ask, hostile):
    async def lose(session, dask_worker):
        await dask_worker.plugin_remove(session)

    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        finish(executor, [ask(two_classes, "Constant")])
        engine = executor._engine
        engine._client.run(lose, engine._session)

        assert [found.status for found in finish(executor, [ask(two_classes, "Constant")])] == ["ok"]


def test_a_job_whose_evaluator_fails_is_not_repeated_for_ever(cluster, two_classes, ask, hostile):
    with cluster.executor(datasets=[two_classes], evaluator="hostile_algorithms:Broken", **hostile) as executor:
        assert [found.status for found in finish(executor, [ask(two_classes, "Constant")])] == ["crashed"]


def test_without_a_scheduler_nothing_begins(monkeypatch):
    monkeypatch.setattr(dask_engine, "CONNECT_SECONDS", 0.5)
    with pytest.raises(BadRequest, match="There is no scheduler to work with at"):
        DaskExecutor(scheduler_address("tcp://127.0.0.1:9")).start()


def test_tls_lets_in_who_is_known_and_nobody_else(two_classes, ask, hostile, certificates, monkeypatch):
    known, stranger = certificates(), certificates()
    with Cluster(1, tls=known) as cluster:
        # A worker that is not let in tries again for a second, then it ends.
        other = cluster.start_worker("--death-timeout", "1", identity=stranger)
        files = {"tls_ca": known / "cert.pem", "tls_cert": stranger / "cert.pem", "tls_key": stranger / "key.pem"}
        with monkeypatch.context() as patch:
            patch.setattr(dask_engine, "CONNECT_SECONDS", 1.0)
            with pytest.raises(BadRequest, match="check its address and certificates"):
                DaskExecutor(scheduler_address(cluster.url, **files)).start()

        with cluster.executor(datasets=[two_classes], **hostile) as executor:
            assert other.wait(SECONDS) != 0
            assert executor.refused_workers == {}
            assert executor.n_workers == 1
            assert [found.status for found in finish(executor, [ask(two_classes, "Constant")])] == ["ok"]


def test_a_cluster_that_does_not_answer_cannot_hold_up_the_end(cluster, two_classes, ask, hostile, monkeypatch):
    monkeypatch.setattr(dask_engine, "CLOSE_SECONDS", 0.2)
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        executor.submit(ask(two_classes, "Sleepy"))
        os.kill(cluster.scheduler.pid, signal.SIGSTOP)

    # The end has come although the scheduler said nothing.
    assert psutil.Process(cluster.scheduler.pid).status() == psutil.STATUS_STOPPED
    os.kill(cluster.scheduler.pid, signal.SIGCONT)
