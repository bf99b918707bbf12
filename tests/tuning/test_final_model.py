"""From what a session found to the final model: an ensemble, or a labelled fallback."""

import json
import pickle
import re
from dataclasses import replace
from threading import Event

import numpy as np
import pandas as pd
import pytest

from metaml.budget import Budget
from metaml.data import from_frame
from metaml.evaluation import Limits, LocalExecutor
from metaml.model import load
from metaml.sources import builtin
from metaml.tuning.fallback import why_nothing
from metaml.tuning.final_model import finish
from metaml.tuning.job_batch import Ending
from metaml.tuning.run import tune
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import FoldModels
from metaml_kb import open_kb
from tests.tuning.sessions import settings_of


def test_the_choice_is_not_worse_than_any_single_run(finished):
    _, result, _ = finished

    assert result.finished.score >= result.found.ranked[0].score - 1e-9


def test_a_refit_that_did_not_succeed_is_told_with_its_time_and_its_limits(one_worker):
    iris, settings = builtin.load("iris"), settings_of(refits=True)
    found = tune(iris, settings_of(n_iterations=2), executor=one_worker).found

    with LocalExecutor(1, registry="tests.refusing:REFUSING", preload=()) as executor, FoldModels() as models:
        executor.add(iris)
        finished = finish(Ending(iris, found, executor, settings, Budget(None), models))

    assert finished.kind == "fallback"
    assert finished.refit_seconds > 0
    assert finished.why.endswith("to all rows within its limits; raise --limit-seconds or --limit-memory")


def test_a_single_model_can_be_asked_for(one_worker):
    result = tune(builtin.load("iris"), settings_of(n_iterations=4), single=True, executor=one_worker)

    assert (result.finished.kind, len(result.finished.model.members)) == ("single", 1)


def test_a_model_of_values_averages_what_was_fitted_to_the_folds(one_worker):
    result = tune(builtin.load("diabetes"), settings_of(n_iterations=4), executor=one_worker)

    assert {len(member.estimators) for member in result.finished.model.members} == {3}
    assert result.finished.refit_seconds < 5


def test_a_model_that_predicts_sooner_can_be_asked_for(one_worker):
    result = tune(builtin.load("diabetes"), settings_of(n_iterations=4, refits=True), executor=one_worker)

    assert {len(member.estimators) for member in result.finished.model.members} == {1}


def test_an_ensemble_that_must_be_sure_is_fitted_anew_and_a_single_model_is_not(finished):
    _, result, _ = finished
    n_members = len(result.finished.model.members)

    assert {len(member.estimators) for member in result.finished.model.members} == ({3} if n_members == 1 else {1})


def test_a_model_of_a_part_of_the_rows_is_fitted_to_all_of_them(one_worker):
    result = tune(builtin.load("diabetes"), settings_of(n_iterations=3, max_rows=100), executor=one_worker)

    assert {len(member.estimators) for member in result.finished.model.members} == {1}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"limits": Limits(30.0, 0.001)}, "no evaluation kept to 0.001 MB of memory; raise --limit-memory"),
        ({"limits": Limits(0.0001)}, "no evaluation was complete within 0.0001 s; raise --limit-seconds"),
        ({"n_iterations": None, "seconds": 0.001}, "when the time was up; give more time"),
    ],
    ids=["memory", "seconds", "time"],
)
def test_a_fallback_says_what_would_help(one_worker, changes, reason):
    frame = pd.DataFrame({"a": np.arange(40.0), "y": [0, 1] * 20})

    result = tune(from_frame(frame, target="y"), settings_of(**{"n_iterations": 2, **changes}), executor=one_worker)

    assert result.finished.kind == "fallback"
    assert reason in result.finished.why


def test_a_fallback_for_want_of_a_defined_score_says_so(one_worker):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0], "y": ["x", "z", "x", "z", "x"]})

    result = tune(from_frame(frame, target="y"), settings_of(n_iterations=2, n_folds=5), executor=one_worker)

    assert (
        result.finished.why == "no evaluation has a defined ROC AUC; give more rows, fewer --folds or another --metric"
    )


def test_a_fallback_of_a_search_that_was_stopped_says_so(one_worker):
    result = tune(builtin.load("iris"), settings_of(), should_stop=lambda: True, executor=one_worker)

    assert result.finished.why == "the search was stopped before an evaluation was complete"


def test_a_single_evaluation_that_went_wrong_is_told_as_one(one_worker):
    found = tune(builtin.load("iris"), settings_of(n_iterations=1), executor=one_worker).found
    trial = found.trials[0]
    crashed = replace(trial, outcome=replace(trial.outcome, status="crashed", error="the worker died"))

    why = why_nothing(replace(found, trials=(crashed,)), settings_of(), is_stopped=False)

    assert why == "the only evaluation went wrong: the worker died"


def test_where_no_evaluation_is_complete_what_was_fitted_to_some_folds_is_the_fallback(one_worker, tmp_path):
    digits = builtin.load("digits")
    settings = settings_of(algorithms=("mlp",), n_folds=10)

    has_stopped = Event()

    def stop_after_a_fold() -> bool:
        if one_worker._folds:
            has_stopped.set()
        return has_stopped.is_set()

    result = tune(digits, settings, executor=one_worker, output=tmp_path, should_stop=stop_after_a_fold)

    assert result.found.ranked == []
    assert result.finished.kind == "fallback"
    assert re.fullmatch(
        r"the search was stopped before an evaluation was complete "
        r"\(what was saved is mlp as fitted to \d of 10 folds\)",
        result.finished.why,
    )
    assert (load(tmp_path).predict(digits.X) == digits.y).mean() > 0.9


def test_probabilities_are_calibrated_where_it_helps_unless_that_is_switched_off(rare, one_worker):
    def tuned(**changes):
        settings = settings_of(n_iterations=2, algorithms=("k_neighbors",), metric="log_loss", **changes)
        return tune(rare, settings, executor=one_worker).finished

    plain, calibrated = tuned(calibrates=False), tuned()

    assert (plain.model.calibration, plain.calibrated) == (None, None)
    assert calibrated.model.calibration is not None
    assert calibrated.score > plain.score
    assert np.array_equal(calibrated.uncalibrated, plain.predictions, equal_nan=True)


@pytest.mark.parametrize(
    ("changes", "shipped", "why"),
    [
        ({}, "fold models averaged", "they saw all rows together"),
        ({"refits": True}, "refit to all rows", "--refit or --readable asks for it"),
        ({"max_rows": 100}, "refit to all rows", "no fold model saw all rows"),
    ],
)
def test_a_search_says_which_model_it_saved_and_why(one_worker, tmp_path, changes, shipped, why):
    settings = settings_of(n_iterations=2, **changes)

    finished = tune(builtin.load("diabetes"), settings, executor=one_worker, output=tmp_path).finished

    told = json.loads((tmp_path / "best.json").read_text())["model"]
    assert (finished.shipped, finished.why_shipped) == (told["shipped"], told["why_shipped"]) == (shipped, why)
    assert f"Saved: {shipped}, because {why}." in (tmp_path / "report.html").read_text()


def test_what_has_no_time_for_a_refit_is_saved_as_the_held_out_model(one_worker):
    diabetes, settings = builtin.load("diabetes"), settings_of(n_iterations=2, n_folds=1)
    with FoldModels() as models:
        found = TuneSession(diabetes, open_kb(":memory:"), settings, one_worker, models=models).run()
        late = replace(settings, seconds=0.001)
        finished = finish(Ending(diabetes, found, one_worker, late, Budget(0.0), models))

    assert finished.shipped.startswith("held-out model")
    assert finished.why_shipped == "there was no time to fit it to all rows"


def test_a_resumed_session_saves_a_model_of_its_own_if_the_best_cannot_be_fitted_again(one_worker):
    diabetes, settings = builtin.load("diabetes"), settings_of(n_iterations=3)
    with FoldModels() as models:
        found = TuneSession(diabetes, open_kb(":memory:"), settings, one_worker, models=models).run()
        first, second = (trial.run.identity for trial in found.ranked[:2])
        models.keep_only({second})
        lost = [
            replace(trial, outcome=replace(trial.outcome, predictions=None)) if trial.run.identity == first else trial
            for trial in found.trials
        ]
        late = replace(settings, seconds=0.001)
        finished = finish(Ending(diabetes, replace(found, trials=tuple(lost)), one_worker, late, Budget(0.0), models))

    assert finished.kind == "single"
    assert finished.chosen[0].trial.run.identity == second
    assert finished.shipped == "fold models averaged"


def test_a_member_is_refit_alone_where_only_its_fold_models_were_not_kept(one_worker):
    diabetes, settings = builtin.load("diabetes"), settings_of(n_iterations=4)
    with FoldModels() as models:
        found = TuneSession(diabetes, open_kb(":memory:"), settings, one_worker, models=models).run()
        models.keep_only({trial.run.identity for trial in found.ranked[1:]})
        finished = finish(Ending(diabetes, found, one_worker, settings, Budget(None), models))

    assert re.match(r"1 of \d members refit to all rows", finished.shipped)
    assert finished.why_shipped == "the fold models of that one were not kept"


def test_a_complete_evaluation_whose_fold_models_are_too_large_to_keep_does_not_end_in_a_small_tree(one_worker):
    diabetes, settings = builtin.load("diabetes"), settings_of(n_iterations=1)
    with FoldModels() as models:
        found = TuneSession(diabetes, open_kb(":memory:"), settings, one_worker, models=models).run()
        best = found.ranked[0].run.identity
        fold_model = pickle.dumps(models.get(best)[0])
        models.keep_only(())
        models.keep(best, (), fold_model)
        finished = finish(Ending(diabetes, found, one_worker, replace(settings, seconds=0.001), Budget(0.0), models))

    assert (finished.kind, finished.shipped) == ("single", "model of one fold")
    assert finished.why_shipped.startswith("those of all folds are too large together")
    assert finished.score == found.ranked[0].score
