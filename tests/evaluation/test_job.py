"""The values that travel: plans, races, overtime, jobs and outcomes."""

import math
import pickle

import numpy as np
import pytest

from metaml.evaluation.job import Job, Limits, MinimumScore, Outcome, Overtime, Race
from metaml.splits.fold_plan import ALWAYS_TRAINS, UNUSED, FoldPlan

PLAN = FoldPlan("given", 2, 0, None, np.array([0, 1, 0, UNUSED, ALWAYS_TRAINS], dtype=np.int16))
BEST = (0.90, 0.92, 0.91)


@pytest.mark.parametrize(
    ("scores", "is_lost"),
    [([0.5], False), ([0.5, 0.5], True), ([0.9, 0.5], False), ([0.95, 0.95, 0.95], False), ([0.5] * 4, False)],
    ids=["one fold is too few", "far behind", "the folds disagree", "ahead", "more folds than the best has"],
)
def test_a_race_is_lost_when_the_gap_is_beyond_chance(scores, is_lost):
    assert Race("accuracy", BEST).is_lost(scores) is is_lost


def test_overtime_is_for_what_is_ahead_and_ends_in_time():
    overtime = Overtime("accuracy", BEST, seconds=10.0, left=5.0)

    assert overtime.is_for([0.95], 4.0)
    assert not overtime.is_for([0.95], 6.0)
    assert not overtime.is_for([0.85], 4.0)
    assert not overtime.is_for([math.nan], 4.0)


@pytest.mark.parametrize(
    ("bar", "folds", "is_used"),
    [(None, (0,), True), (0.5, (0, 1), True), (0.6, (0, 1), True), (0.7, (0, 1), False), (-math.inf, (0,), False)],
    ids=["no bar", "above", "on the bar", "below", "a lost race"],
)
def test_predictions_and_models_below_the_bar_stay_where_they_are(bar, folds, is_used):
    outcome = Outcome("ok", 1.0, {"accuracy": (0.5, 0.7)[: len(folds)]}, folds, predictions=np.ones(5), models=(b"m",))
    if bar is not None:
        bar = MinimumScore("accuracy", bar)

    found = outcome.as_far_as_used(Job("f" * 32, "svm", {}, PLAN, 0, Limits(1.0), bar=bar))

    assert (found.models != ()) == (found.predictions is not None) == is_used
    assert found.scores == outcome.scores


def test_without_a_best_every_evaluation_is_ahead():
    assert Overtime("accuracy", (), seconds=10.0, left=math.inf).is_for([0.1], 9.0)


def test_waiting_for_a_worker_brings_the_deadline_nearer():
    overtime = Overtime("accuracy", BEST, seconds=10.0, left=5.0)
    job = Job("f" * 32, "svm", {}, PLAN, 0, Limits(1.0), overtime=overtime)

    later = job.after_waiting(2.0)

    assert later.overtime.left == 3.0
    assert (later.limits, later.plan) == (job.limits, job.plan)


def test_a_job_asks_for_all_folds_unless_it_names_some():
    job = Job("f" * 32, "svm", {}, PLAN, 0, Limits(1.0))

    assert job.asked_folds == (0, 1)
    assert Job("f" * 32, "svm", {}, PLAN, 0, Limits(1.0), folds=(1,)).asked_folds == (1,)
    assert pickle.loads(pickle.dumps(job)) == job


def test_a_score_is_the_mean_over_folds_where_it_is_defined():
    outcome = Outcome("ok", 1.0, {"accuracy": (0.5, 1.0, math.nan)}, (0, 1, 2))

    assert outcome.score("accuracy") == 0.75
    assert math.isnan(outcome.score("roc_auc"))
