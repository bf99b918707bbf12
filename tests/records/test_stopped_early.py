"""A run that stopped early is stored as what it is."""

from dataclasses import replace

import pytest

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest
from metaml.evaluation import Job, Limits, evaluate, make_plan
from metaml.experience.load_history import run_history
from metaml.records.conversion import fold_plan_record, run_of, stopped_early, store_dataset
from metaml.records.reproduction import reproduce
from metaml.sources import builtin
from metaml.tuning.resume import trials_of
from metaml.tuning.trials import PredictionFiles, ranked
from metaml_kb import SessionRecord, open_kb
from metaml_kb.lookup import find_run

NAME = "random_forest"


@pytest.fixture(scope="module")
def iris():
    return builtin.load("iris")


@pytest.fixture(scope="module")
def job(iris):
    config = {**ALGORITHMS[NAME].space(iris.task).default(), "n_estimators": 10}
    return Job(iris.fingerprint, NAME, config, make_plan(iris, n_folds=3, seed=0), 0, Limits(60.0), fit_seconds=0.0)


@pytest.fixture(scope="module")
def early(job, iris):
    """A run whose forests had time for four trees."""
    return run_of(job, evaluate(job, iris, ALGORITHMS[NAME]), session="s", environment=None, origin="default")


@pytest.fixture(scope="module")
def whole(job, iris):
    """The run of the same job without a limit."""
    unlimited = replace(job, fit_seconds=None)
    outcome = evaluate(unlimited, iris, ALGORITHMS[NAME])
    return run_of(unlimited, outcome, session="s", environment=None, origin="default")


@pytest.fixture
def kb(tmp_path, job, iris):
    with open_kb(tmp_path / "kb.db") as base:
        store_dataset(base, iris, "builtin")
        base.add_fold_plan(fold_plan_record(job.plan))
        base.add_session(SessionRecord("s", "tune", 0.0))
        yield base


def test_it_is_partial_although_it_has_all_folds(early, whole):
    assert (early.status, early.error) == ("partial", "stopped early: a fit may take 0 s")
    assert len(early.scores["accuracy"]) == 3
    assert (stopped_early(early), stopped_early(whole)) == (True, False)


def test_it_does_not_take_the_place_of_the_complete_run(kb, early, whole):
    kb.add_run(early)
    kb.add_run(whole)

    assert kb.runs()["status"].tolist() == ["partial", "ok"]
    assert stopped_early(find_run(kb, early.identity).run)


def test_experience_does_not_take_it_for_the_score_of_its_configuration(kb, early):
    kb.add_run(early)

    found = run_history(kb, NAME, metric="accuracy")

    assert found.is_empty
    assert "no complete run of random_forest" in found.notes[0]


def test_it_cannot_be_reproduced_and_the_user_is_told_why(kb, early, iris):
    kb.add_run(early)

    with pytest.raises(BadRequest, match="stopped when its time was up"):
        reproduce(find_run(kb, early.identity), iris)


def test_a_resumed_session_may_use_it_as_before(kb, early):
    kb.add_run(early)
    kb.add_events("s", [("finished", {"run": early.identity, "seconds": 1.0, "at": 1.0})])

    trials = trials_of(kb, "s", "accuracy", PredictionFiles(None))

    assert [(trial.outcome.status, trial.outcome.stopped_early) for trial in trials] == [("ok", True)]
    assert ranked(trials) == list(trials)
