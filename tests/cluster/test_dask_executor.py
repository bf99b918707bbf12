"""An executor over a Dask cluster whose workers come, go, differ and die."""

import os
import re

import psutil
import pytest

from metaml.cluster import dispatcher
from metaml.errors import BadRequest
from tests.cluster_processes import PATHS, SECONDS, Cluster, finish, is_running, wait_until


def test_the_jobs_of_killed_workers_are_done_by_others_and_nothing_is_left(cluster, two_classes, ask, hostile):
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        other = cluster.start_worker()
        wait_until(lambda: executor.n_workers == 4)
        jobs = [ask(two_classes, "Sleepy", {"seconds": 0.2}, seed=seed) for seed in range(8)]
        for job in jobs:
            executor.submit(job)
        first = executor.next(SECONDS)
        pids = pids_below(other.pid)
        cluster.kill(other)
        others = [executor.next(SECONDS) for _ in jobs[1:]]

        assert {outcome.status for _, outcome in [first, *others]} == {"ok"}
        assert {id(job) for job, _ in [first, *others]} == {id(job) for job in jobs}
        assert executor.next(0) is None
        wait_until(lambda: not any(is_running(pid) for pid in pids))


def pids_below(pid):
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def test_a_job_that_kills_its_workers_has_crashed_and_the_others_go_on(cluster, two_classes, ask, hostile, monkeypatch):
    # That it takes four workers is a claim about the dispatcher.
    monkeypatch.setattr(dispatcher, "MOST_DEATHS", 2)
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        victims = [*cluster.workers, cluster.start_worker()]
        wait_until(lambda: executor.n_workers == 4)
        killer = ask(two_classes, "Regicide")
        executor.submit(killer)

        job, outcome = executor.next(SECONDS)

        assert job is killer
        assert outcome.status == "crashed"
        assert "2 workers" in outcome.error
        wait_until(lambda: all(victim.poll() is not None for victim in victims))
        cluster.restore()
        assert [found.status for found in finish(executor, [ask(two_classes, "Constant")])] == ["ok"]


def with_another_learner(folder):
    other = folder / "lightgbm-0.0.1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: lightgbm\nVersion: 0.0.1\n")
    return {}


def with_another_python(folder):
    # Python reads this file when it starts, before the worker does. The speed of this Python is not for other tests.
    (folder / "sitecustomize.py").write_text("import platform\nplatform.python_version = lambda: '3.99.1'\n")
    return {"XDG_CACHE_HOME": str(folder)}


ANOTHER_LEARNER = (with_another_learner, r"lightgbm 0\.0\.1 instead of \S+")
ANOTHER_PYTHON = (with_another_python, r"Python 3\.99 instead of 3\.\d+")


@pytest.mark.parametrize(("prepare", "difference"), [ANOTHER_LEARNER, ANOTHER_PYTHON])
def test_a_worker_of_another_version_gets_no_jobs_and_is_named(
    cluster, two_classes, ask, hostile, tmp_path, prepare, difference
):
    options = prepare(tmp_path)
    said = rf"The worker tcp://127\S+ gets no jobs: {difference}\."
    notes = []
    with cluster.executor(datasets=[two_classes], on_note=notes.append, **hostile) as executor:
        cluster.start_worker(PYTHONPATH=os.pathsep.join([str(tmp_path), *PATHS]), **options)
        wait_until(lambda: any(re.fullmatch(said, note) for note in notes))

        finish(executor, [ask(two_classes, "Constant", seed=seed) for seed in range(4)])

        assert executor.n_workers == 2
        assert len(executor.n_transfers) == 1
        assert len(executor.refused_workers) == 1


def test_a_cluster_whose_workers_are_all_refused_is_said_so(hostile, tmp_path):
    other = tmp_path / "metaml-9.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: metaml\nVersion: 9.0\n")
    with Cluster(0) as cluster:
        cluster.start_worker(PYTHONPATH=os.pathsep.join([str(tmp_path), *PATHS]))
        executor = cluster.executor(**hostile)

        with pytest.raises(BadRequest, match=r"metaml 9\.0 instead of .*metaml worker --scheduler"):
            executor.start()


def test_seconds_of_a_slower_worker_are_scaled_and_its_environment_is_told(
    cluster, two_classes, ask, hostile, tmp_path
):
    from metaml.evaluation.environment import environment

    (tmp_path / "metaml").mkdir()
    slow = tmp_path / "metaml" / "reference_seconds.json"
    environment(slow)
    own = environment()["reference_seconds"]
    slow.write_text(slow.read_text().replace(slow.read_text().split(": ")[1].split("\n")[0], str(3 * own)))
    with cluster.executor(datasets=[two_classes], **hostile) as executor:
        cluster.start_worker(n_slots=1, XDG_CACHE_HOME=str(tmp_path))
        wait_until(lambda: executor.n_workers == 3)
        # One job for each slot.
        outcomes = finish(executor, [ask(two_classes, "Sleepy", {"seconds": 0.1}, seed=seed) for seed in range(3)])

    slowest = [outcome for outcome in outcomes if outcome.scale != 1]
    assert [outcome.scale for outcome in slowest] == [pytest.approx(1 / 3)]
    assert slowest[0].seconds > 0.2
    assert slowest[0].environment["reference_seconds"] == pytest.approx(3 * own)
