"""Bagging: candidates are judged by folds that no choice has seen, and everything about it is stored."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.budget import Budget
from metaml.errors import BadRequest
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.splits import given_plan, make_plan
from metaml.tuning.bagging import (
    MOST_SHARE,
    Bagging,
    bagging_seconds,
    can_be_repeated,
    repeated_plan,
)
from metaml.tuning.candidates import LEAST_BREADTH
from metaml.tuning.run import tune
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import FoldModels
from metaml_kb import open_kb
from tests.tuning.sessions import trial_of

QUICK = ("elastic_net", "extra_trees", "k_neighbors", "decision_tree")


def settings_of(**changes):
    fields = {"seconds": None, "n_iterations": 6, "algorithms": QUICK, "n_folds": 3, "uses_memory": False}
    return TuneSettings(**{**fields, "n_repeats": 2, **changes})


@pytest.fixture(scope="module")
def cancer():
    return builtin.load("breast_cancer")


@pytest.fixture(scope="module")
def bagged(cancer, executor):
    """A session on a real data set, what it found, and its candidates as evaluated again."""
    with open_kb(":memory:") as kb, FoldModels() as models:
        session = TuneSession(cancer, kb, settings_of(), executor, models=models)
        found = session.run()
        bagging = Bagging(cancer, found, executor, settings_of(), Budget(None), models, session.log, closing=0.0)
        done = bagging.run()
        n_models = {trial.run.identity: len(models.get(trial.run.identity)) for trial in done.trials}
        runs = kb.runs()
        yield found, done, n_models, runs, kb.events(session.key, "repeat")


def test_candidates_are_judged_by_other_folds_than_the_search(bagged):
    found, done, *_ = bagged

    assert done.n_repeats == 2
    assert done.plan != found.plan
    assert all(trial.is_repeated for trial in done.trials)
    searched = {trial.run.identity: trial for trial in found.trials}
    for trial in done.trials:
        before = np.asarray(searched[trial.run.identity].outcome.predictions)
        assert not np.allclose(trial.outcome.predictions, before)


def test_the_best_of_each_algorithm_is_among_them(bagged):
    found, done, *_ = bagged

    assert {trial.run.algorithm for trial in done.trials} == {trial.run.algorithm for trial in found.ranked}


def test_the_models_of_all_repeats_are_kept_behind_those_of_the_search(bagged):
    _, done, n_models, *_ = bagged

    assert set(n_models.values()) == {3 * (1 + done.n_repeats)}


def test_every_repeat_is_a_stored_run_and_an_event(bagged):
    _, done, _, runs, events = bagged

    repeats = runs[runs["origin"] == "repeat"]
    assert len(repeats) == len(events) == len(done.trials) * done.n_repeats
    assert repeats["fold_plan"].nunique() == done.n_repeats


def test_only_random_folds_that_test_every_row_can_be_repeated(cancer):
    timed = settings_of(seconds=60.0, n_iterations=None, n_repeats=None)

    assert can_be_repeated(make_plan(cancer, 5), timed)
    assert not can_be_repeated(make_plan(cancer, 1), timed)
    assert not can_be_repeated(make_plan(cancer, 5, max_rows=300), timed)
    assert not can_be_repeated(given_plan([row % 3 for row in range(len(cancer.y))]), timed)


def test_counted_evaluations_are_repeated_only_on_request(cancer):
    plan = make_plan(cancer, 5)

    assert not can_be_repeated(plan, settings_of(n_repeats=None))
    assert not can_be_repeated(plan, settings_of(n_repeats=0))
    assert can_be_repeated(plan, settings_of(n_repeats=1))


def test_each_repeat_has_folds_of_its_own(cancer):
    plan = make_plan(cancer, 5)

    hashes = {repeated_plan(cancer, plan, repeat).hash for repeat in (1, 2, 3)}

    assert len({plan.hash, *hashes}) == 4


def test_time_is_kept_for_repeats_only_if_three_candidates_fit():
    timed = settings_of(seconds=100.0, n_iterations=None)
    quick = [trial_of(f"algorithm {k}", 0.8, seconds=1.0, seed=k) for k in range(LEAST_BREADTH)]
    slow = [replace(trial, outcome=replace(trial.outcome, seconds=20.0)) for trial in quick]

    assert 0 < bagging_seconds(quick, 60, timed) <= MOST_SHARE * 100
    assert bagging_seconds(slow, 60, timed) == 0


def test_no_time_is_kept_before_enough_was_tried():
    timed = settings_of(seconds=100.0, n_iterations=None)
    few = [trial_of(f"algorithm {k}", 0.8, seconds=1.0, seed=k) for k in range(LEAST_BREADTH - 1)]

    assert bagging_seconds(few, 60, timed) == 0


def test_a_negative_number_of_repeats_is_refused():
    with pytest.raises(BadRequest, match="repeats"):
        settings_of(n_repeats=-1)


def test_the_final_model_is_chosen_by_the_repeats(cancer, executor):
    result = tune(cancer, settings_of(n_repeats=1), executor=executor)

    assert all(member.trial.is_repeated for member in result.finished.chosen)
    assert result.report.ledger["repeats"] > 0
