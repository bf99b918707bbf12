"""The connection to a Dask cluster: data sets, deadlines, certificates, and a scheduler that comes back."""

import os
import signal
import time

import pytest

from metaml.cluster import DaskExecutor, dask_engine, scheduler_address
from metaml.cluster.dispatcher import Patience
from metaml.errors import BadRequest
from tests.cluster_processes import Cluster, finish, wait_until


def test_a_data_set_is_sent_once_to_each_worker_also_to_one_that_comes_later(cluster, two_classes, ask, hostile):
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        finish(executor, [ask(two_classes, "Constant", seed=seed) for seed in range(3)])
        late = cluster.start_worker()
        wait_until(lambda: executor.n_workers == 2)
        finish(executor, [ask(two_classes, "Sleepy", {"seconds": 0.1}, seed=seed) for seed in range(6)])

        assert len(executor.n_transfers) == 2
        assert set(executor.n_transfers.values()) == {1}
    cluster.kill(late)


def test_jobs_go_on_after_the_scheduler_has_come_back(two_classes, ask, hostile):
    notes = []
    with Cluster(1) as cluster, cluster.executor(datasets=[two_classes], on_note=notes.append, **hostile) as executor:
        jobs = [ask(two_classes, "Sleepy", {"seconds": 0.3}, seed=seed) for seed in range(3)]
        for job in jobs:
            executor.submit(job)
        first = executor.next(60)
        cluster.kill(cluster.scheduler)
        wait_until(lambda: cluster.workers[0].poll() is not None)
        cluster.start_scheduler()
        cluster.start_worker()

        others = [executor.next(60) for _ in jobs[1:]]

        assert {id(job) for job, _ in [first, *others]} == {id(job) for job in jobs}
        assert {outcome.status for _, outcome in others} == {"ok"}
        assert any("is gone" in note for note in notes)


def test_a_stopped_worker_loses_its_job_by_the_deadline_and_is_used_again_later(two_classes, ask, hostile):
    patience = Patience(start_seconds=20.0, grace_seconds=0.5)
    with Cluster(1) as cluster, cluster.executor(datasets=[two_classes], patience=patience, **hostile) as executor:
        finish(executor, [ask(two_classes, "Constant")])
        executor.submit(ask(two_classes, "Sleepy", {"seconds": 1.0}, seconds=3.0))
        executor.next(timeout=0.5)
        os.kill(cluster.workers[0].pid, signal.SIGSTOP)
        second = cluster.start_worker()

        _, outcome = executor.next(60)

        os.kill(cluster.workers[0].pid, signal.SIGCONT)
        assert outcome.status == "ok"
        cluster.kill(second)
        assert [found.status for found in finish(executor, [ask(two_classes, "Constant")])] == ["ok"]


def test_without_a_scheduler_nothing_begins(monkeypatch):
    monkeypatch.setattr(dask_engine, "CONNECT_SECONDS", 0.5)
    with pytest.raises(BadRequest, match="There is no scheduler to work with at"):
        DaskExecutor(scheduler_address("tcp://127.0.0.1:9")).start()


def test_tls_lets_in_who_is_known_and_nobody_else(two_classes, ask, hostile, certificates):
    known, stranger = certificates(), certificates()
    with Cluster(1, tls=known) as cluster:
        files = {"tls_ca": known / "cert.pem", "tls_cert": stranger / "cert.pem", "tls_key": stranger / "key.pem"}
        with pytest.raises(BadRequest, match="check its address and certificates"):
            DaskExecutor(scheduler_address(cluster.url, **files)).start()

        with cluster.executor(datasets=[two_classes], **hostile) as executor:
            assert [found.status for found in finish(executor, [ask(two_classes, "Constant")])] == ["ok"]


def test_a_cluster_that_does_not_answer_cannot_hold_up_the_end(two_classes, ask, hostile):
    with Cluster(1) as cluster:
        with cluster.executor(datasets=[two_classes], **hostile) as executor:
            executor.submit(ask(two_classes, "Sleepy"))
            os.kill(cluster.scheduler.pid, signal.SIGSTOP)
            begun = time.monotonic()

        assert time.monotonic() - begun < 15
