"""Sessions that look at few rows, folds or trees first: stored apart, promoted, resumed and replayed."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.experience.load_history import run_history
from metaml.search.settings import TuneSettings
from metaml.tuning.replay_session import replay_session
from metaml.tuning.resume import find_unfinished
from metaml.tuning.run import tune
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles
from metaml_kb import open_kb
from tests.tuning.sessions import cut_after, settings_of


@pytest.fixture(scope="module")
def table():
    """A table with enough rows for a look at a quarter of them."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(3100, 3))
    is_positive = columns[:, 0] + columns[:, 1] ** 2 + rng.normal(size=3100) > 1
    return from_frame(pd.DataFrame(columns, columns=list("abc")).assign(y=is_positive.astype(int)), target="y")


def halving(**changes: object) -> TuneSettings:
    return settings_of(**{"search": "halving", "n_iterations": 14, **changes})


@pytest.fixture(scope="module")
def halved(table, one_worker, tmp_path_factory):
    """A knowledge base and what a session by successive halving found."""
    with open_kb(tmp_path_factory.mktemp("halved") / "kb.db") as kb:
        yield kb, TuneSession(table, kb, halving(), one_worker).run()


def test_a_look_is_stored_with_its_own_fold_plan_and_is_partial(halved, table):
    kb, found = halved

    looks = [trial for trial in found.trials if trial.share < 1.0]
    runs = kb.runs().set_index("run")
    plans = kb.fold_plans().set_index("key")

    assert {trial.share for trial in looks} == {1 / 4}
    assert {plans.at[trial.run.fold_plan, "max_rows"] for trial in looks} <= set(range(1500, 1600))
    assert {plans.at[trial.run.fold_plan, "n_folds"] for trial in looks} == {1}
    assert set(runs.loc[[trial.run.identity for trial in looks], "status"]) == {"partial"}
    assert all(trial.run.error.startswith("low fidelity: 0.25") for trial in looks)


def test_a_look_is_not_ranked_and_joins_no_ensemble(halved):
    _, found = halved

    assert found.ranked
    assert {trial.share for trial in found.ranked} == {1.0}
    assert {trial.share for trial in found.offered} == {1.0}
    assert all(trial.outcome.predictions is None for trial in found.trials if trial.share < 1.0)


def test_the_best_of_what_was_looked_at_is_evaluated_as_a_whole(halved):
    _, found = halved

    promoted = [trial for trial in found.trials if trial.run.proposal.proposer == "promotion"]
    looks = [trial for trial in found.trials if trial.share < 1.0]

    assert promoted
    best = max(looks[:8], key=lambda trial: trial.score)
    assert (best.run.algorithm, best.config) in [(trial.run.algorithm, trial.config) for trial in promoted]


def test_a_look_is_no_experience(halved):
    kb, found = halved

    history = run_history(kb, "decision_tree", metric="roc_auc")

    whole = [trial for trial in found.ranked if trial.run.algorithm == "decision_tree"]
    assert len(history.runs) == len(whole)


@pytest.mark.parametrize(("search", "fidelity"), [("bohb", "rows"), ("look", "folds"), ("hyperband", "trees")])
def test_the_event_log_alone_decides_what_is_looked_at(search, fidelity, table, executor, tmp_path):
    algorithms = ("extra_trees", "decision_tree") if fidelity == "trees" else ("k_neighbors", "decision_tree")
    settings = halving(search=search, fidelity=fidelity, algorithms=algorithms, n_workers=2)
    with open_kb(tmp_path / "kb.db") as kb:
        found = TuneSession(table, kb, settings, executor).run()

        steps = replay_session(kb, found.session)

    assert [step.is_same for step in steps] == [True] * 14
    assert {step.share for step in steps} > {1.0}


def test_a_search_that_was_cut_short_goes_on_with_its_looks(halved, table, one_worker, tmp_path):
    _, whole = halved
    with open_kb(tmp_path / "kb.db") as kb:
        key = cut_after(7, table, kb, halving(), one_worker)
        earlier = find_unfinished(kb, table.fingerprint, PredictionFiles(None))
        settings = earlier.resumed(settings_of())

        found = TuneSession(table, kb, settings, one_worker, resumed=earlier).run()
        steps = replay_session(kb, key)

    assert (settings.search, settings.fidelity) == ("halving", "rows")
    assert [(trial.run.identity, trial.share) for trial in found.trials] == [
        (trial.run.identity, trial.share) for trial in whole.trials
    ]
    assert all(step.is_same for step in steps)


def test_fewer_trees_are_another_configuration_of_the_same_choice(table, one_worker):
    settings = halving(fidelity="trees", algorithms=("extra_trees",), n_iterations=6)
    with open_kb(":memory:") as kb:
        found = TuneSession(table, kb, settings, one_worker).run()

    look = next(trial for trial in found.trials if trial.share < 1.0)
    assert look.run.config["n_estimators"] < look.config["n_estimators"]
    assert {**look.config, "n_estimators": 0} == {**look.run.config, "n_estimators": 0}


def test_looks_by_a_metric_of_labels_are_judged_after_thresholds(table, one_worker):
    with open_kb(":memory:") as kb:
        found = TuneSession(table, kb, halving(metric="f1", n_iterations=6), one_worker).run()

    looks = [trial for trial in found.trials if trial.share < 1.0]
    assert looks
    assert any(trial.score != trial.outcome.score("f1") for trial in looks)


def test_looks_do_not_use_up_patience(table, one_worker):
    with open_kb(":memory:") as kb:
        found = TuneSession(table, kb, halving(patience=2), one_worker).run()

    assert len(found.trials) > 5


def test_a_search_with_looks_ends_in_a_model_and_a_report(table, one_worker, tmp_path):
    with open_kb(":memory:") as kb:
        tuned = tune(table, halving(n_iterations=8), kb=kb, executor=one_worker, output=tmp_path)

    assert tuned.finished.model is not None
    assert (tmp_path / "report.html").exists()
