"""The number of columns as an objective: points that read fewer of them, which ask for no others."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.evaluation.best_columns import with_ranking
from metaml.model.front import load_front
from metaml.tuning.front.picking import pick
from metaml.tuning.replay_session import replay_session
from metaml.tuning.resume import find_unfinished
from metaml.tuning.run import tune
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles
from metaml_kb import open_kb
from tests.tuning.sessions import cut_after, settings_of

ALGORITHMS = ("decision_tree", "elastic_net")
OBJECTIVES = ("roc_auc", "n_columns")


@pytest.fixture(scope="module")
def dataset():
    """Return a table in which two of six columns decide, one of them more."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    frame["town"] = rng.choice(["Ulm", "Bonn"], 300)
    signal = 2 * frame["c"] + (frame["town"] == "Ulm") + rng.normal(size=300)
    return from_frame(frame.assign(y=np.where(signal > 0.5, "yes", "no")), target="y")


@pytest.fixture(scope="module")
def tuned(dataset, one_worker, tmp_path_factory):
    """The folder and the result of a search for good models that read few columns."""
    output = tmp_path_factory.mktemp("columns")
    settings = settings_of(objectives=OBJECTIVES, n_iterations=7, algorithms=ALGORITHMS)
    with open_kb(":memory:") as kb:
        result = tune(dataset, settings, kb=kb, executor=one_worker, output=output)
        runs = [kb.runs(algorithm=name) for name in ALGORITHMS]
    return output, result, runs


def test_a_model_of_one_column_is_on_the_front(tuned):
    _, result, _ = tuned
    numbers = [point.values["n_columns"] for point in result.front]

    assert min(numbers) == 1
    assert len(set(numbers)) > 1


def test_the_model_of_a_point_needs_the_columns_that_it_counts_and_no_others(dataset, tuned):
    output, result, _ = tuned
    for front in (result.front, load_front(output)):
        for point in front:
            model = front.model(point)
            needed = [feature.source for feature in model.schema.features]

            assert len(needed) == point.values["n_columns"]
            assert model.answer(dataset.X[needed]).notes == ()


def test_a_model_that_asks_for_less_predicts_the_same(dataset, tuned):
    _, result, _ = tuned
    for point in result.front:
        whole = [result.front.models[name] for name, _ in point.parts]
        if len(whole) == 1 and point.calibration is None:
            small = result.front.model(point)

            assert np.array_equal(small.predict_proba(dataset.X), whole[0].predict_proba(dataset.X))


def test_pick_takes_the_best_of_few_columns(tuned):
    output, _, _ = tuned

    model = pick(output, max={"n_columns": 1})

    assert [feature.source for feature in model.schema.features] == ["c"]


def test_runs_on_few_columns_are_stored_with_their_number(tuned):
    _, _, runs = tuned
    few = pd.concat([frame[frame["best_columns"].notna()] for frame in runs if "best_columns" in frame])

    assert (few["n_columns_read"] <= few["best_columns"]).all()
    assert few["n_columns_read"].min() == 1


def test_a_search_over_columns_resumes_and_replays(dataset, one_worker, tmp_path):
    ranked, settings = with_ranking(dataset), settings_of(objectives=OBJECTIVES, n_iterations=8, algorithms=ALGORITHMS)
    with open_kb(tmp_path / "kb.db") as kb:
        key = cut_after(5, ranked, kb, settings, one_worker)
        earlier = find_unfinished(kb, dataset.fingerprint, PredictionFiles(None))
        found = TuneSession(ranked, kb, earlier.resumed(settings_of()), one_worker, resumed=earlier).run()
        steps = replay_session(kb, key)

    assert len(found.trials) == 8
    assert [trial.config.get("best_columns") for trial in found.trials[:4]] == [None, None, 3, 1]
    assert [step.is_same for step in steps] == [True] * 8
