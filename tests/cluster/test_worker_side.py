"""Inside a Dask worker: an evaluation ends when its task is cancelled, and everything ends with the executor."""

import time

import psutil

from tests.cluster_processes import wait_until


def processes_below(cluster):
    return [child for worker in cluster.workers for child in psutil.Process(worker.pid).children(recursive=True)]


def test_an_evaluation_is_killed_when_its_task_is_cancelled(cluster, two_classes, ask, hostile):
    # This pins a name of Dask's own, the state "cancelled" of a task that is running.
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        ticket = executor.submit(ask(two_classes, "Sleepy"))
        wait_until(lambda: len(processes_below(cluster)) == 2)
        executor.cancel(ticket)
        begun = time.monotonic()

        executor.submit(ask(two_classes, "Constant"))
        _, outcome = executor.next(20)

    assert outcome.status == "ok"
    assert time.monotonic() - begun < 15


def test_nothing_is_left_on_the_workers_when_an_executor_closes(cluster, two_classes, ask, hostile):
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        executor.submit(ask(two_classes, "Sleepy"))
        wait_until(lambda: len(processes_below(cluster)) == 2)

    wait_until(lambda: processes_below(cluster) == [], 20)
    assert processes_below(cluster) == []


def test_folds_of_a_job_under_way_can_be_taken_when_it_is_cancelled(cluster, two_classes, ask, hostile):
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        job = ask(two_classes, "Sleepy", {"seconds": 1.0}, keep_models=True, tells_folds=True)
        ticket = executor.submit(job)
        executor.next(timeout=0.0)
        wait_until(lambda: len(processes_below(cluster)) == 2)
        time.sleep(1.6)

        executor.cancel(ticket)

        assert len(executor.take_folds(ticket)) == 1
        assert executor.take_folds(ticket) == ()
