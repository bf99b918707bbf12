"""One job at a time in a process of its own, under limits."""

import os
from dataclasses import replace

import pytest
from hostile_algorithms import REGISTRY

from metaml.evaluation import Overtime
from metaml.evaluation.dataset_store import DatasetStore
from metaml.evaluation.fork_server import ForkServer
from metaml.evaluation.isolation import IsolatedEvaluator


@pytest.fixture(scope="module")
def evaluator(tmp_path_factory, two_classes):
    folder = tmp_path_factory.mktemp("store")
    DatasetStore(folder).put(two_classes)
    fork_server = ForkServer(folder, registry=REGISTRY, preload=())
    fork_server.start()
    yield IsolatedEvaluator(fork_server)
    fork_server.close()


def test_limits_hold_without_a_pool(evaluator, two_classes, ask):
    outcomes = [
        evaluator(ask(two_classes, "Sleepy", seconds=0.2)),
        evaluator(ask(two_classes, "Hungry", megabytes=50)),
        evaluator(ask(two_classes, "Constant")),
    ]

    assert [outcome.status for outcome in outcomes] == ["timeout", "memory", "ok"]


def test_a_worker_that_is_ahead_may_overrun_its_limit_up_to_the_next(evaluator, two_classes, ask):
    overtime = Overtime("accuracy", (0.0,) * 3, 60.0, left=60.0)
    job = ask(two_classes, "Sleepy", {"seconds": 0.4}, n_folds=3, seconds=1.0, overtime=overtime)

    assert evaluator(job).status == "ok"
    assert evaluator(replace(job, config={"seconds": 3600})).error == "not done within 1 s"


def test_evaluation_is_not_in_this_process(evaluator, two_classes, ask):
    outcome = evaluator(ask(two_classes, "TellTale"))

    assert f"pid={os.getpid()} " not in outcome.error


def test_a_job_is_killed_when_its_asker_says_stop(evaluator, two_classes, ask):
    outcome = evaluator.run(ask(two_classes, "Sleepy"), should_stop=lambda: True)

    assert (outcome.status, outcome.error) == ("crashed", "cancelled")
