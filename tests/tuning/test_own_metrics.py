"""A search judged by costs, by a function or by a quantile: stored by name, and apart from what others learn."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import make_scorer, mean_absolute_error

import metaml
from metaml import MetaMLClassifier
from metaml.data import from_frame
from metaml.errors import BadRequest
from metaml.experience.lesson_files import LessonRequest
from metaml.metrics import metric
from metaml.metrics.costs import costs_named
from metaml.search.judging import judged_by, judging
from metaml.tuning.replay_session import replay_session
from metaml.tuning.resume import find_unfinished
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import PredictionFiles
from metaml_kb import open_kb
from tests.tuning.sessions import cut_after, settings_of

pytestmark = pytest.mark.usefixtures("one_pool")

FAST = {"algorithms": ("decision_tree",), "iterations": 3, "folds": 3}


def customers(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(
        y=np.where(X[:, 0] + rng.normal(size=n) > 0.8, "bad", "good"), income=10 * X[:, 1] + rng.normal(size=n)
    )


def caught(y_true, prediction):
    return float(np.mean((y_true == "bad") & (prediction == "bad")))


def test_costs_decide_the_score_the_thresholds_and_what_is_stored(tmp_path):
    frame = customers().drop(columns="income")

    with open_kb(tmp_path / "kb.db") as kb:
        result = metaml.tune(frame, "y", costs="bad:good=10,good:bad=1", kb=kb, output=tmp_path / "out", **FAST)
        stored = kb.runs(folds=True)
    plain = metaml.tune(frame, "y", kb=":memory:", **FAST)

    assert costs_named(result.metric).matrix.tolist() == [[0, 10], [1, 0]]
    assert result.metric in stored.columns
    assert all(len(values) == 3 for values in stored[result.metric])
    said = result.model.predict(frame) == "bad"
    assert said.mean() > 1.5 * (plain.model.predict(frame) == "bad").mean()
    told = json.loads((tmp_path / "out" / "best.json").read_text())
    ways = {row["way"]: row for row in told["costs"]}
    assert ways["theoretical"]["threshold"] == pytest.approx(10 / 11)
    assert ways["of the model"]["cost"] < ways["largest probability"]["cost"]
    assert told["metric"]["label"] == "mean cost"
    assert "The theoretical threshold follows from the costs" in (tmp_path / "out" / "report.html").read_text()
    again = metaml.evaluate(tmp_path / "out", frame)
    assert again["metric"][0] == result.metric


def test_costs_of_numbers_or_beside_a_metric_are_refused():
    with pytest.raises(BadRequest, match="Costs are of classes"):
        metaml.tune(customers(), "income", costs="bad:good=10", kb=":memory:", **FAST)
    with pytest.raises(BadRequest, match="cannot have both"):
        metaml.tune(customers(), "y", metric="f1", costs={("bad", "good"): 10}, kb=":memory:", **FAST)


def test_a_function_judges_and_is_stored_under_its_own_name(tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        result = metaml.tune(customers(), "y", metric=caught, kb=kb, output=tmp_path / "out", **FAST)
        stored = kb.runs(folds=True)

    assert result.metric == "custom:caught"
    assert len(stored["custom:caught"][0]) == 3
    assert 0 < result.score < 0.5
    assert "caught" in (tmp_path / "out" / "report.html").read_text()
    assert metaml.load(tmp_path / "out").metric == "custom:caught"


def test_a_scorer_of_scikit_learn_judges_numbers():
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)

    own = metaml.tune(customers(), "income", metric=scorer, kb=":memory:", **FAST)
    ours = metaml.tune(customers(), "income", metric="mae", kb=":memory:", **FAST)

    assert own.metric == "custom:mean_absolute_error"
    assert own.score == pytest.approx(ours.score)


def test_a_function_that_fails_is_one_sentence_before_anything_is_searched():
    def profit(y_true, prediction):
        return y_true.price

    with pytest.raises(BadRequest, match="The metric profit failed: AttributeError"):
        metaml.tune(customers(), "y", metric=profit, kb=":memory:", **FAST)
    with pytest.raises(ValueError, match="The metric profit failed"):
        MetaMLClassifier(metric=profit, kb=":memory:", **FAST).fit(customers()[["a", "b"]], customers()["y"])


def test_experience_answers_by_the_metric_of_the_task(executor, tmp_path):
    dataset = from_frame(customers(), "y", name="customers")
    with open_kb(tmp_path / "kb.db") as kb:
        settings = settings_of(algorithms=FAST["algorithms"], **judged_by(caught, None))
        with judging(settings, dataset) as judged:
            session = TuneSession(dataset, kb, judged, executor)

            request = session.advisor._request

    assert session.metric == "custom:caught"
    assert request == LessonRequest("roc_auc", "binary", FAST["algorithms"])


@pytest.mark.parametrize("asked", [(caught, None), ("auto", "bad:good=10")])
def test_such_a_search_can_be_resumed_and_replayed(asked, executor, tmp_path):
    dataset = from_frame(customers(), "y", name="customers")
    settings = settings_of(algorithms=("decision_tree", "elastic_net"), **judged_by(*asked))
    with open_kb(tmp_path / "kb.db") as kb, judging(settings, dataset) as judged:
        key = cut_after(3, dataset, kb, judged, executor)
        earlier = find_unfinished(kb, dataset.fingerprint, PredictionFiles(None))
        found = TuneSession(dataset, kb, judged, executor, resumed=earlier).run()

        steps = replay_session(kb, key)

    assert len(found.trials) == 8
    assert all(np.isfinite(trial.score) for trial in found.trials)
    assert all(step.is_same for step in steps)


def test_a_quantile_is_judged_by_the_pinball_loss():
    result = metaml.tune(customers(), "income", metric="pinball@0.9", kb=":memory:", **FAST)

    assert result.metric == "neg_pinball@0.9"
    loss = metric("pinball@0.9").function(np.array([2.0, -1.0]), np.zeros(2))
    assert loss == pytest.approx(-(0.9 * 2 + 0.1) / 2)
    for name in ("pinball", "pinball@1.5", "pinball@0"):
        with pytest.raises(BadRequest, match="There is no metric"):
            metric(name)
