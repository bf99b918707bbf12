"""Races that are lost end early; refits give the estimator."""

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.evaluation import Limits, LocalExecutor, Race, evaluate
from metaml.evaluation.job import Job
from metaml.splits import make_plan


def job_on(dataset, **options) -> Job:
    config = ALGORITHMS["decision_tree"].space(dataset.task).default()
    return Job(dataset.fingerprint, "decision_tree", config, make_plan(dataset, n_folds=5), 0, Limits(30.0), **options)


def test_a_lost_race_ends_early_and_is_partial(two_classes):
    race = Race("accuracy", (2.0, 2.0, 2.0, 2.0, 2.0))

    outcome = evaluate(job_on(two_classes, race=race), two_classes, ALGORITHMS["decision_tree"])

    assert outcome.status == "partial"
    assert outcome.folds == (0, 1)
    assert len(outcome.scores["accuracy"]) == 2


def test_a_race_that_is_not_lost_runs_to_the_end(two_classes):
    race = Race("accuracy", (0.0, 0.0, 0.0, 0.0, 0.0))

    outcome = evaluate(job_on(two_classes, race=race), two_classes, ALGORITHMS["decision_tree"])

    assert (outcome.status, len(outcome.folds)) == ("ok", 5)


def test_a_refit_gives_an_estimator_fitted_to_all_rows(two_classes):
    with LocalExecutor(1, [two_classes], preload=()) as executor:
        executor.submit(job_on(two_classes, refit=True))
        finished = executor.next(timeout=60)

    assert finished is not None
    outcome = finished[1]
    assert outcome.status == "ok"
    assert np.allclose(outcome.estimator.predict_proba(two_classes.X).sum(axis=1), 1.0)
    assert outcome.scores == {}
