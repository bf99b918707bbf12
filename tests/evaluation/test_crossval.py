"""Cross-validation of one configuration, in this process."""

import math
import pickle
import re
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hostile_algorithms import ALGORITHMS
from sklearn.metrics import f1_score

from metaml.algorithms import ALGORITHMS as LEARNERS
from metaml.data import from_frame
from metaml.errors import BadRequest
from metaml.evaluation import Overtime, Race, all_scores, evaluate, given_plan
from metaml.evaluation.crossval import fold_seed, one_line
from metaml.evaluation.job import Job, Limits


def test_scores_are_those_of_the_out_of_fold_predictions(three_classes, ask):
    job = ask(three_classes, "Noisy", n_folds=4, keep_predictions=True)

    outcome = evaluate(job, three_classes, ALGORITHMS["Noisy"])

    assert outcome.status == "ok"
    assert outcome.folds == (0, 1, 2, 3)
    assert outcome.predictions.shape == (60, 3)
    assert outcome.predictions.dtype == np.float32
    for fold in range(4):
        _, test = job.plan.split(fold)
        expected = all_scores("multiclass", three_classes.y[test], outcome.predictions[test])
        assert {name: values[fold] for name, values in outcome.scores.items()} == pytest.approx(expected, rel=1e-5)


def test_f1_looks_at_the_same_class_in_every_fold(ask):
    frame = pd.DataFrame({"a": np.arange(60.0), "y": np.repeat(["no", "yes"], [31, 29])})
    dataset = from_frame(frame, target="y")
    # In the first fold the class that is rarer elsewhere is the more frequent one.
    plan = given_plan(np.where((frame.index < 10) | (frame.index >= 45), 0, 1))
    job = replace(ask(dataset, "Noisy", keep_predictions=True), plan=plan)

    outcome = evaluate(job, dataset, ALGORITHMS["Noisy"])

    for fold in range(2):
        _, test = plan.split(fold)
        labels = outcome.predictions[test].argmax(axis=1)
        assert outcome.scores["f1"][fold] == pytest.approx(f1_score(dataset.y[test], labels, pos_label=1))


def test_regression_predicts_values(numbers, ask):
    job = ask(numbers, "Constant", keep_predictions=True)

    outcome = evaluate(job, numbers, ALGORITHMS["Constant"])

    assert set(outcome.scores) >= {"neg_rmse", "neg_mae", "r2", "spearman"}
    assert outcome.predictions.shape == (60,)
    assert outcome.score("spearman") == 0


def test_same_seed_gives_the_same_scores_and_another_seed_others(two_classes, ask):
    scores = [
        evaluate(ask(two_classes, "Noisy", seed=seed), two_classes, ALGORITHMS["Noisy"]).scores for seed in (1, 1, 2)
    ]

    assert scores[0] == scores[1]
    assert scores[0] != scores[2]


def test_fold_seeds_are_all_different():
    seeds = {fold_seed(seed, fold) for seed in range(50) for fold in range(10)}

    assert len(seeds) == 500


def test_fewer_folds_than_planned_are_partial(two_classes, ask):
    job = ask(two_classes, "Constant", n_folds=5, folds=(3, 1), keep_predictions=True)

    outcome = evaluate(job, two_classes, ALGORITHMS["Constant"])

    assert outcome.status == "partial"
    assert outcome.folds == (3, 1)
    assert len(outcome.scores["accuracy"]) == 2
    tested = ~np.isnan(outcome.predictions[:, 0])
    assert (tested == np.isin(job.plan.assignment, [1, 3])).all()


@pytest.mark.parametrize(("seconds", "stopped_early"), [(None, False), (1000.0, False), (0.0, True)])
def test_an_outcome_says_whether_a_fit_ran_out_of_its_time(two_classes, ask, seconds, stopped_early):
    config = LEARNERS["random_forest"].space("binary").default()
    job = replace(ask(two_classes, "random_forest"), config=config, fit_seconds=seconds)

    evaluated = evaluate(job, two_classes, LEARNERS["random_forest"])
    refitted = evaluate(replace(job, refit=True), two_classes, LEARNERS["random_forest"])

    assert (evaluated.status, evaluated.stopped_early) == ("ok", stopped_early)
    assert (refitted.status, refitted.stopped_early) == ("ok", stopped_early)
    assert len(refitted.estimator.model_.model.estimators_) == (4 if stopped_early else 200)


def test_predictions_are_returned_only_when_asked_for(two_classes, ask):
    outcome = evaluate(ask(two_classes, "Constant"), two_classes, ALGORITHMS["Constant"])

    assert outcome.predictions is None


def test_a_class_missing_from_the_training_part_gets_no_probability():
    frame = pd.DataFrame({"a": np.arange(9.0), "y": [0, 1, 2, 3, 3, 0, 1, 3, 2]})
    dataset = from_frame(frame, target="y", task="multiclass")
    plan = given_plan([0, 0, 1, 0, 1, 1, 1, 0, 1])
    job = Job(dataset.fingerprint, "Constant", {}, plan, 0, Limits(30), keep_predictions=True)

    outcome = evaluate(job, dataset, ALGORITHMS["Constant"])

    assert outcome.status == "ok"
    assert (outcome.predictions[plan.assignment == 1, 2] == 0).all()
    assert (outcome.predictions[plan.assignment == 0, 2] > 0).all()
    assert outcome.predictions.sum(axis=1) == pytest.approx(1)


def test_predicted_classes_stand_in_for_missing_probabilities(two_classes, ask):
    job = ask(two_classes, "WithoutProbabilities", keep_predictions=True)

    outcome = evaluate(job, two_classes, ALGORITHMS["WithoutProbabilities"])

    assert set(np.unique(outcome.predictions)) == {0, 1}


@pytest.mark.parametrize(
    ("algorithm", "status", "error"),
    [
        ("Raising", "failed", "ValueError: cannot open data.csv"),
        ("Quitting", "failed", "SystemExit: bye"),
        ("NotANumber", "failed", "ValueError: fold 0 has predictions that are not finite"),
        ("OutOfMemory", "memory", "MemoryError"),
    ],
)
def test_what_a_learner_raises_is_an_outcome(two_classes, ask, algorithm, status, error):
    outcome = evaluate(ask(two_classes, algorithm), two_classes, ALGORITHMS[algorithm])

    assert (outcome.status, outcome.error) == (status, error)
    assert outcome.scores == {}
    assert np.isnan(outcome.score("accuracy"))


def test_what_a_learner_warns_about_does_not_fail_it(two_classes, ask):
    outcome = evaluate(ask(two_classes, "Worried"), two_classes, ALGORITHMS["Worried"])

    assert outcome.status == "ok"


def test_limits_are_kept_between_folds(two_classes, ask):
    slow = ask(two_classes, "Sleepy", {"seconds": 0.05}, seconds=0.01)
    large = ask(two_classes, "GreedyAtOnce", {"megabytes": 80}, megabytes=20)

    assert evaluate(slow, two_classes, ALGORITHMS["Sleepy"]).status == "timeout"
    assert evaluate(large, two_classes, ALGORITHMS["GreedyAtOnce"]).status == "memory"


@pytest.mark.parametrize(
    ("best", "most", "left", "status"),
    [
        ((1.0,) * 3, 60.0, 60.0, "timeout"),
        ((0.0,) * 3, 60.0, 60.0, "ok"),
        ((0.0, math.nan, 0.0), 60.0, 60.0, "ok"),
        ((0.0,) * 3, 0.85, 60.0, "timeout"),
        ((0.0,) * 3, 60.0, 0.7, "timeout"),
        ((), 60.0, 60.0, "ok"),
    ],
    ids=[
        "behind",
        "ahead",
        "ahead where defined",
        "ahead but too slow",
        "ahead but too late",
        "nothing to be ahead of",
    ],
)
def test_an_evaluation_overruns_its_limit_only_if_it_is_ahead(two_classes, ask, best, most, left, status):
    overtime = Overtime("accuracy", best, most, left)
    job = ask(two_classes, "Sleepy", {"seconds": 0.3}, n_folds=3, seconds=0.8, overtime=overtime)

    outcome = evaluate(job, two_classes, ALGORITHMS["Sleepy"])

    assert outcome.status == status


def test_what_would_take_too_long_ends_after_the_first_fold_and_says_what_it_would_have_taken(two_classes, ask):
    overtime = Overtime("accuracy", (1.0,) * 3, 60.0, time.monotonic() + 60)
    job = ask(two_classes, "Sleepy", {"seconds": 0.3}, n_folds=3, seconds=0.8, overtime=overtime)

    outcome = evaluate(job, two_classes, ALGORITHMS["Sleepy"])

    assert re.fullmatch(r"would take [\d.]+ s, longer than 0.8 s", outcome.error)
    assert outcome.fit_seconds < 0.6
    assert outcome.expected_seconds >= 0.9
    assert outcome.scores == {}


def test_peak_memory_and_seconds_are_measured(two_classes, ask):
    job = ask(two_classes, "GreedyAtOnce", {"megabytes": 80})

    outcome = evaluate(job, two_classes, ALGORITHMS["GreedyAtOnce"])

    assert 70 < outcome.peak_megabytes < 170
    assert 0 < outcome.fit_seconds < outcome.seconds
    assert 0 < outcome.predict_seconds < outcome.seconds


def test_long_errors_are_cut():
    assert len(one_line(ValueError("long " * 1000))) == 300
    assert one_line(KeyError()) == "KeyError"


def test_a_job_for_other_data_is_refused(two_classes, three_classes, ask):
    with pytest.raises(BadRequest, match="right one"):
        evaluate(ask(two_classes, "Constant"), three_classes, ALGORITHMS["Constant"])
    with pytest.raises(BadRequest, match="numbered from 0"):
        evaluate(ask(two_classes, "Constant", folds=(7,)), two_classes, ALGORITHMS["Constant"])


def test_a_plan_for_other_rows_is_refused(two_classes):
    job = Job(two_classes.fingerprint, "Constant", {}, given_plan([0, 1]), 0, Limits(1))

    with pytest.raises(BadRequest, match="new plan"):
        evaluate(job, two_classes, ALGORITHMS["Constant"])


def test_the_models_of_the_folds_are_kept_where_asked_for(two_classes, ask):
    job = ask(two_classes, "Constant", n_folds=3, keep_models=True)

    outcome = evaluate(job, two_classes, ALGORITHMS["Constant"])

    assert len([pickle.loads(model) for model in outcome.models]) == 3


@pytest.mark.parametrize(("most_bytes", "n_models"), [(10**6, 1), (20, 0)])
def test_of_models_that_are_too_large_together_that_of_the_first_fold_is_kept(
    two_classes, ask, monkeypatch, most_bytes, n_models
):
    monkeypatch.setattr("metaml.evaluation.crossval.MOST_MODEL_BYTES", 30)
    monkeypatch.setattr("metaml.evaluation.crossval.MOST_ONE_BYTES", most_bytes)
    job, told = ask(two_classes, "Constant", n_folds=3, keep_models=True, tells_folds=True), []

    outcome = evaluate(job, two_classes, ALGORITHMS["Constant"], on_fold=told.append)

    assert (outcome.status, outcome.models, bool(outcome.one_model)) == ("ok", (), bool(n_models))
    assert [fold.model for fold in told] == [outcome.one_model] * n_models


def test_a_large_model_of_a_held_out_part_is_kept_as_there_may_be_no_time_for_another(two_classes, ask, monkeypatch):
    monkeypatch.setattr("metaml.evaluation.crossval.MOST_MODEL_BYTES", 30)

    outcome = evaluate(ask(two_classes, "Constant", n_folds=1, keep_models=True), two_classes, ALGORITHMS["Constant"])

    assert len(outcome.models) == 1


def test_rows_that_the_plan_does_not_use_are_predicted_by_the_mean_of_the_folds(numbers, ask):
    job = ask(numbers, "Constant", n_folds=3, keep_predictions=True)
    held_out = replace(job, plan=job.plan.without_fold(0), predicts_unused=True)
    unused = job.plan.split(0)[1]

    outcome = evaluate(held_out, numbers, ALGORITHMS["Constant"])

    means = [numbers.y[held_out.plan.split(fold)[0]].mean() for fold in range(2)]
    assert outcome.predictions[unused] == pytest.approx(np.full(len(unused), np.mean(means)))
    assert evaluate(replace(held_out, predicts_unused=False), numbers, ALGORITHMS["Constant"]).scores == outcome.scores


def test_a_lost_race_ends_early_and_is_partial(two_classes, ask):
    job = ask(two_classes, "Constant", n_folds=5, race=Race("accuracy", (2.0,) * 5))

    outcome = evaluate(job, two_classes, ALGORITHMS["Constant"])

    assert outcome.status == "partial"
    assert outcome.folds == (0, 1)
    assert len(outcome.scores["accuracy"]) == 2


def test_a_race_that_is_not_lost_runs_to_the_end(two_classes, ask):
    job = ask(two_classes, "Constant", n_folds=5, race=Race("accuracy", (0.0,) * 5))

    outcome = evaluate(job, two_classes, ALGORITHMS["Constant"])

    assert (outcome.status, len(outcome.folds)) == ("ok", 5)
