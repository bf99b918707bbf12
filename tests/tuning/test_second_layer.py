"""The second layer: what feeds it, what it tries, and that it is left out where it does not help."""

import math
from dataclasses import replace

import pytest

from metaml.budget import Budget
from metaml.errors import BadRequest
from metaml.model import load
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.splits import make_plan
from metaml.tuning.candidates import LEAST_BREADTH
from metaml.tuning.run import tune
from metaml.tuning.second_layer import (
    MOST_COLUMNS,
    Stacking,
    affordable,
    bases_of,
    can_have_layers,
    further_stackers,
    second_layer_seconds,
    stackers_of,
)
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import FoldModels
from metaml_kb import open_kb
from tests.tuning.sessions import trial_of

QUICK = ("elastic_net", "extra_trees", "k_neighbors", "decision_tree")


def settings_of(**changes):
    fields = {"seconds": None, "n_iterations": 6, "algorithms": QUICK, "n_folds": 3, "uses_memory": False}
    return TuneSettings(**{**fields, **changes})


def test_what_was_chosen_for_its_score_feeds_no_second_layer():
    trials = [trial_of("svm", 0.9, "surrogate"), trial_of("svm", 0.8), trial_of("mlp", 0.7, "warm start")]

    assert [trial.score for trial in bases_of(trials, 2)] == [0.8, 0.7]


def test_what_was_evaluated_again_on_other_folds_may_feed_it():
    repeated = trial_of("svm", 0.9, "surrogate", is_repeated=True)

    assert bases_of([repeated, trial_of("mlp", 0.7, "surrogate")], 2) == [repeated]


def test_each_algorithm_feeds_it_before_one_does_twice():
    trials = [trial_of("svm", 0.9 - 0.01 * k, "warm start") for k in range(20)] + [trial_of("mlp", 0.5)]

    bases = bases_of(trials, 2)

    assert {trial.run.algorithm for trial in bases} == {"svm", "mlp"}
    assert len(bases) < 21


def test_many_classes_allow_fewer_members_to_feed_it():
    trials = [trial_of("svm", 0.9 - 0.01 * k, "warm start") for k in range(20)]

    assert len(bases_of(trials, 50)) * 50 <= MOST_COLUMNS


def test_near_duplicates_feed_it_once():
    first = trial_of("svm", 0.9)
    second = replace(trial_of("mlp", 0.8), outcome=first.outcome)

    assert bases_of([first, second], 2) == [first]


def test_neighbours_and_single_trees_do_not_stack():
    trials = [trial_of(name, 0.5) for name in ("k_neighbors", "decision_tree", "svm", "lightgbm", "extra_trees")]

    assert {stacker.algorithm for stacker in stackers_of(trials)} == {"lightgbm", "extra_trees"}


def test_the_quickest_default_is_tried_first_and_the_best_others_follow():
    trials = [
        trial_of("lightgbm", 0.8, seconds=5.0),
        trial_of("elastic_net", 0.7, seconds=0.5),
        trial_of("lightgbm", 0.85, "surrogate"),
        trial_of("lightgbm", 0.9, "surrogate"),
    ]

    assert [stacker.algorithm for stacker in stackers_of(trials)] == ["elastic_net", "lightgbm"]
    assert [stacker.config for stacker in further_stackers(trials)] == [{"x": 0.9}]


def test_a_second_layer_needs_every_row_tested_and_enough_of_them():
    cancer, iris = builtin.load("breast_cancer"), builtin.load("iris")
    timed = settings_of(seconds=60.0, n_iterations=None)

    assert can_have_layers(cancer, make_plan(cancer, 5), timed)
    assert not can_have_layers(iris, make_plan(iris, 5), timed)
    assert not can_have_layers(cancer, make_plan(cancer, 1), timed)
    assert not can_have_layers(cancer, make_plan(cancer, 5, max_rows=400), timed)


def test_counted_evaluations_have_one_layer_unless_two_are_asked_for():
    cancer = builtin.load("breast_cancer")
    plan = make_plan(cancer, 5)

    assert not can_have_layers(cancer, plan, settings_of())
    assert can_have_layers(cancer, plan, settings_of(n_layers=2))
    assert not can_have_layers(cancer, plan, settings_of(seconds=60.0, n_iterations=None, n_layers=1))


def test_other_numbers_of_layers_are_refused():
    with pytest.raises(BadRequest, match="3 layers"):
        settings_of(n_layers=3)


def test_time_is_kept_for_a_second_layer_only_if_it_fits():
    names = ("lightgbm", "extra_trees", "mlp")
    weak = [trial_of("svm", 0.1, "surrogate", seed=seed) for seed in range(LEAST_BREADTH)]
    trials = [*weak, *(trial_of(name, 0.8, seconds=2.0, seed=seed) for seed, name in enumerate(names))]
    endless = [replace(trial, outcome=replace(trial.outcome, seconds=1e4)) for trial in trials]
    settings = settings_of(seconds=100.0, n_iterations=None)

    assert 0 < second_layer_seconds(trials, 2, settings) < 50
    assert second_layer_seconds(endless, 2, settings) == 0
    assert second_layer_seconds(trials[:-1], 2, settings) == 0
    assert second_layer_seconds(trials[LEAST_BREADTH:], 2, settings) == 0


def test_a_model_of_two_layers_predicts_the_same_after_it_was_saved(tmp_path, executor):
    cancer = builtin.load("breast_cancer")

    result = tune(cancer, settings_of(n_layers=2), executor=executor, output=tmp_path)

    model = load(tmp_path)
    assert model.n_layers == result.finished.model.n_layers
    assert model.predict_proba(cancer.X) == pytest.approx(result.finished.model.predict_proba(cancer.X))
    assert result.finished.score >= max(trial.score for trial in result.found.ranked)


@pytest.fixture(scope="module")
def found(executor):
    with open_kb(":memory:") as kb:
        session = TuneSession(builtin.load("breast_cancer"), kb, settings_of(n_layers=2), executor)
        yield session.run()


def stacking(found, executor, models, **changes):
    fields = {"closing": 0.0, "note": lambda *_: None}
    cancer, settings = builtin.load("breast_cancer"), settings_of(n_layers=2)
    return Stacking(cancer, found, executor, settings, Budget(None), models, **{**fields, **changes})


def test_a_second_layer_is_built_and_told(found, executor):
    events = []

    with FoldModels() as models:
        layer = stacking(found, executor, models, note=lambda kind, details: events.append(details)).run()

    assert math.isfinite(layer.gain)
    assert all(trial.layer == 2 for trial in layer.trials)
    assert any("gain" in details for details in events)
    assert layer.trials or layer.why_not


def test_one_that_does_worse_on_unseen_rows_is_left_out(found, executor, monkeypatch):
    monkeypatch.setattr(Stacking, "_check", lambda *_: -0.01)

    with FoldModels() as models:
        layer = stacking(found, executor, models).run()

    assert layer.trials == ()
    assert "no layer had seen" in layer.why_not


def test_a_stop_ends_it(found, executor):
    with FoldModels() as models:
        layer = stacking(found, executor, models, should_stop=lambda: True).run()

    assert layer.trials == ()
    assert layer.why_not


def test_one_whose_data_find_no_space_is_left_out_and_the_first_layer_makes_a_model(executor):
    class Full:
        """The workers, on a disk that has space for the first data set only."""

        def __getattr__(self, name):
            return getattr(executor, name)

        def add(self, dataset):
            if dataset.fingerprint != cancer.fingerprint:
                raise BadRequest("There is no space for the data set among the temporary files.")
            executor.add(dataset)

    cancer = builtin.load("breast_cancer")

    result = tune(cancer, settings_of(n_layers=2), executor=Full())

    assert result.finished.why_one_layer == "the workers could not get its data"
    assert (result.finished.kind != "fallback", result.finished.model.n_layers) == (True, 1)


def test_without_enough_members_there_is_none(found, executor):
    with FoldModels() as models:
        layer = stacking(replace(found, trials=found.trials[:1]), executor, models).run()

    assert "could feed it" in layer.why_not


def test_one_that_cannot_be_checked_in_time_is_left_out(found, executor, monkeypatch):
    monkeypatch.setattr(Stacking, "_check", lambda *_: math.nan)

    with FoldModels() as models:
        layer = stacking(found, executor, models).run()

    assert layer.trials == ()
    assert "no time to check" in layer.why_not


def test_the_most_expensive_parts_are_left_out_first():
    trials = [trial_of(name, 0.8, seconds=1.0 + 10 * k, seed=k) for k, name in enumerate(("mlp", "lightgbm", "svm"))]
    trials += [trial_of("elastic_net", 0.7, seconds=50.0, seed=9)]

    bases, stackers = affordable(trials, stackers_of(trials), 40.0)

    assert [stacker.algorithm for stacker in stackers] == ["mlp"]
    assert trials[3] not in bases
    assert affordable(trials, stackers_of(trials), 1.0)[1] == []
