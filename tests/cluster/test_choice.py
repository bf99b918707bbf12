"""Commands and functions get the executor that their options name."""

import pytest

import metaml
from metaml.cluster import DaskExecutor
from metaml.cluster.choice import executor_for
from metaml.errors import BadRequest
from metaml.evaluation import LocalExecutor
from metaml.sources import builtin
from tests.cluster_processes import Cluster


def test_without_a_scheduler_this_machine_evaluates():
    assert isinstance(executor_for(None, None, default=3), LocalExecutor)
    assert executor_for(None, None, default=3).n_workers == 3
    assert executor_for(None, 2, default=3).n_workers == 2


def test_with_a_scheduler_its_workers_evaluate():
    assert isinstance(executor_for("tcp://127.0.0.1:8786", None), DaskExecutor)


def test_a_cluster_without_workers_is_an_error_before_the_budget_ends():
    with Cluster(0) as cluster:
        executor = executor_for(cluster.url, None, seconds=0.4)

        with pytest.raises(BadRequest, match=r"No worker of \S+ could take jobs within 0\.2 s"):
            executor.__enter__()


def test_an_open_scheduler_beyond_this_machine_is_refused():
    with pytest.raises(BadRequest, match="openssl"):
        executor_for("tcp://10.1.1.1:8786", None)


def test_tune_from_python_on_a_cluster_stores_runs_with_the_machine_that_made_them(cluster, tmp_path):
    frame = builtin.load("iris").X.assign(kind=builtin.load("iris").y)
    options = {"iterations": 3, "algorithms": "decision_tree", "folds": 2, "workers": 1}

    result = metaml.tune(frame, "kind", kb=tmp_path / "kb.db", scheduler=cluster.url, **options)

    here = metaml.tune(frame, "kind", kb=":memory:", **options)
    assert result.leaderboard["score"].tolist() == here.leaderboard["score"].tolist()
    with metaml.open_kb(tmp_path / "kb.db") as kb:
        assert kb.n_runs() == 3
        assert kb.sql("SELECT count(DISTINCT environment_id) AS n FROM run")["n"].tolist() == [1]


def test_a_bot_from_python_works_on_a_cluster(cluster, tmp_path):
    data = builtin.load("iris")
    data.X.assign(kind=data.y).to_csv(tmp_path / "iris.csv", index=False)

    report = metaml.bot(
        tmp_path / "iris.csv", runs=4, algorithms="decision_tree", folds=2, kb=tmp_path / "kb.db", scheduler=cluster.url
    )

    assert report.n_done == 4
    with metaml.open_kb(tmp_path / "kb.db") as kb:
        assert kb.n_runs() == 4


def test_estimators_use_the_scheduler_that_they_are_given():
    iris = builtin.load("iris")
    estimator = metaml.MetaMLClassifier(scheduler="tcp://10.1.1.1:8786", iterations=1, kb=":memory:")

    with pytest.raises(ValueError, match="beyond this machine"):
        estimator.fit(iris.X, iris.y)
