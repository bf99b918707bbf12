"""The front of a session: singles, ensembles and thresholds, none dominated, each a model at once."""

import json

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.errors import BadModel, BadRequest
from metaml.model import load
from metaml.model.front import Front, costs_of, load_front
from metaml.pareto import is_non_dominated
from metaml.tuning.front.facts import front_facts
from metaml.tuning.front.picking import pick
from metaml.tuning.replay_session import replay_session
from metaml.tuning.resume import find_unfinished
from metaml.tuning.run import tune
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles
from metaml_kb import open_kb
from tests.tuning.sessions import cut_after, settings_of

N = 300


@pytest.fixture(scope="module")
def dataset():
    """Return a noisy table of two classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc")).assign(sex=np.tile(["f", "m"], N // 2))
    return from_frame(frame.assign(y=(frame["a"] + rng.normal(size=N) > 0.6).astype(int)), target="y")


@pytest.fixture(scope="module")
def rates(dataset, one_worker, tmp_path_factory):
    """The folder and the result of a search for few errors of either kind."""
    output = tmp_path_factory.mktemp("rates")
    settings = settings_of(objectives=("fnr", "fpr"), n_iterations=5)
    return output, tune(dataset, settings, executor=one_worker, output=output)


@pytest.fixture(scope="module")
def sizes(dataset, one_worker):
    """The result of a search for a good and small model."""
    settings = settings_of(objectives=("roc_auc", "model_bytes"), n_iterations=6)
    return tune(dataset, settings, executor=one_worker)


def test_no_point_beats_another_one(rates, sizes):
    for _, tuned in (rates, (None, sizes)):
        costs = costs_of(tuned.front)

        assert len(costs) > 1
        assert is_non_dominated(costs).all()


def test_each_threshold_gives_the_labels_that_its_point_promises(dataset, rates):
    _, tuned = rates
    point = tuned.front.points[len(tuned.front) // 2]
    model = tuned.front.model(point)
    positive = model.predict_proba(dataset.X)[:, 1]

    assert np.array_equal(model.predict(dataset.X), (positive > point.threshold).astype(int))


def test_a_fair_front_keeps_to_the_labels_of_its_models_where_no_other_objective_looks_at_labels(dataset, one_worker):
    settings = settings_of(metric="f1", objectives=("roc_auc", "gap:sex"), n_iterations=3)

    front = tune(dataset, settings, executor=one_worker).front

    assert all(point.threshold is None for point in front)
    assert all(len(np.unique(front.model(point).predict(dataset.X))) == 2 for point in front)


def test_ensembles_are_better_and_larger_than_the_smallest_single_model(sizes):
    best, smallest = sizes.front.points[0], sizes.front.points[-1]

    assert best.values["roc_auc"] > smallest.values["roc_auc"]
    assert best.values["model_bytes"] > smallest.values["model_bytes"]
    assert sum(member.n_models for member in best.members) > sum(member.n_models for member in smallest.members)


def test_a_point_takes_what_was_measured(sizes, tmp_path):
    point = sizes.front.points[-1]

    saved = sizes.front.model(point).save(tmp_path)

    assert saved.stat().st_size == pytest.approx(point.values["model_bytes"], rel=0.05)


def test_the_folder_holds_the_front_without_pickles_and_its_models_predict_the_same(dataset, rates):
    output, tuned = rates
    front = load_front(output)

    assert [point.values for point in front] == [point.values for point in tuned.front]
    for here, there in zip(tuned.front, front, strict=True):
        own, read = tuned.front.model(here).predict_proba(dataset.X), front.model(there).predict_proba(dataset.X)
        assert np.allclose(own, read)
    assert {path.suffix for path in (output / "front").iterdir()} == {".zip", ".json"}
    assert len(pd.read_csv(output / "pareto.csv")) == len(front)


def test_pick_takes_the_best_within_a_limit(rates):
    output, tuned = rates
    limit = tuned.front.points[0].values["fpr"] * 0.9

    model = pick(output, max={"fpr": limit})
    taken = model.facts["front"]

    allowed = [point.values["fnr"] for point in tuned.front if point.values["fpr"] <= limit]
    assert taken["fpr"] <= limit
    assert taken["fnr"] == min(allowed)


def test_a_limit_that_no_point_keeps_names_the_nearest(rates):
    output, tuned = rates
    least = min(point.values["fnr"] for point in tuned.front)

    with pytest.raises(BadRequest, match=f"Allow {least:.4g}"):
        pick(output, max={"fnr": -1.0})
    with pytest.raises(BadRequest, match="has no objective 'latency'"):
        pick(output, max={"latency": 1.0})
    with pytest.raises(BadRequest, match="has no point 99"):
        pick(output, point=99)


def test_the_report_shows_each_point_with_its_settings(rates):
    output, tuned = rates
    page = (output / "report.html").read_text(encoding="utf-8")
    facts = front_facts(tuned.front, tuned.found.trials)

    assert "The front" in page
    assert page.count("Point ") >= len(tuned.front)
    assert facts.labels == ["false negative rate", "false positive rate"]
    assert len(facts.evaluated) == 5


def test_a_later_search_without_objectives_removes_the_front(dataset, one_worker, rates, tmp_path):
    _, tuned = rates
    from metaml.model.front import save_front

    save_front(tuned.front, tmp_path)
    tune(dataset, settings_of(n_iterations=1), executor=one_worker, output=tmp_path)

    assert not (tmp_path / "front").exists()
    assert not (tmp_path / "pareto.csv").exists()
    with pytest.raises(BadRequest, match="has no front"):
        load_front(tmp_path)


@pytest.mark.parametrize("change", [{"parts": [["../secret", 1.0]]}, {"members": []}, {"values": {}}])
def test_a_damaged_front_is_refused(rates, tmp_path, change):
    output, _ = rates
    about = json.loads((output / "front" / "front.json").read_text(encoding="utf-8"))
    about["points"][0] |= change
    (tmp_path / "front").mkdir()
    (tmp_path / "front" / "front.json").write_text(json.dumps(about), encoding="utf-8")

    with pytest.raises(BadModel, match="damaged"):
        load_front(tmp_path)


def test_a_session_with_objectives_resumes_and_replays(dataset, one_worker, tmp_path):
    settings = settings_of(objectives=("fnr", "fpr"), n_iterations=9)
    with open_kb(tmp_path / "kb.db") as kb:
        key = cut_after(6, dataset, kb, settings, one_worker)
        earlier = find_unfinished(kb, dataset.fingerprint, PredictionFiles(None))
        resumed = earlier.resumed(settings_of())
        found = TuneSession(dataset, kb, resumed, one_worker, resumed=earlier).run()
        steps = replay_session(kb, key)

    assert resumed.objectives == ("fnr", "fpr")
    assert len(found.trials) == 9
    assert all(len(trial.scores) == 3 and trial.curve for trial in found.trials)
    assert [step.is_same for step in steps] == [True] * len(steps)
    assert steps[-1].proposer == "parego"


def test_a_front_of_one_point_can_be_picked_from(rates):
    _, tuned = rates
    alone = Front(tuned.front.objectives, tuned.front.metric, tuned.front.points[:1], tuned.front.models)

    assert load(pick(alone).save(rates[0])).score == tuned.front.points[0].score
