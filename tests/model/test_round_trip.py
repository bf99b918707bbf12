"""A saved model is the model: the same predictions to the last bit, for every algorithm and task."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import TASKS, from_frame
from metaml.evaluation import Job, Limits, evaluate, make_plan
from metaml.model import Model, fit_member, load


def outputs(model, frame):
    return model.predict(frame) if model.task == "regression" else model.predict_proba(frame)


@pytest.mark.parametrize(
    ("name", "task"), [(name, task) for task in TASKS for name in ALGORITHMS if task in ALGORITHMS[name].tasks]
)
def test_predictions_are_the_same_after_loading(name, task, make_model, make_table, tmp_path, capfd):
    space = ALGORITHMS[name].space(task)
    configs = [space.default(), *space.sample(1, np.random.default_rng(3))]
    model = make_model(task, [name], configs=configs)
    new = make_table(task, n=40, seed=9).drop(columns="y")

    loaded = load(model.save(tmp_path / "model.zip"))

    assert np.array_equal(outputs(loaded, new), outputs(model, new))
    assert np.array_equal(loaded.predict(new), model.predict(new))
    assert loaded.predict(new).dtype == model.predict(new).dtype
    assert capfd.readouterr() == ("", "")


def test_what_is_known_about_a_model_is_kept(make_model, tmp_path):
    model = make_model("binary", score=0.75, multipliers=np.array([1.0, 0.25]), facts={"session": "s1"})

    loaded = load(model.save(tmp_path))

    assert (tmp_path / "model.zip").exists()
    for name in ("dataset", "fingerprint", "n_rows", "metric", "score", "multipliers", "facts", "created", "versions"):
        assert getattr(loaded, name) == getattr(model, name)
    assert loaded.schema == model.schema
    assert loaded.members[0].config == model.members[0].config
    assert loaded.notes == ()


def test_fold_models_are_those_of_cross_validation(make_table):
    dataset = from_frame(make_table("multiclass"), target="y")
    plan = make_plan(dataset, n_folds=3)
    config = ALGORITHMS["random_forest"].space("multiclass").default() | {"n_estimators": 10}
    job = Job(dataset.fingerprint, "random_forest", config, plan, 5, Limits(60), keep_predictions=True)

    member = fit_member(dataset, ALGORITHMS["random_forest"], config, seed=5, plan=plan)
    outcome = evaluate(job, dataset, ALGORITHMS["random_forest"])

    assert len(member.estimators) == 3
    for fold, estimator in enumerate(member.estimators):
        rows = plan.split(fold)[1]
        predicted = estimator.predict_proba(dataset.X.iloc[rows]).astype(np.float32)
        assert np.array_equal(predicted, outcome.predictions[rows])


def test_a_fold_without_a_class_does_no_harm(tmp_path):
    frame = pd.DataFrame({"x": np.arange(40.0), "y": ["a"] * 20 + ["b"] * 18 + ["c"] * 2})
    dataset = from_frame(frame, target="y")
    plan = make_plan(dataset, n_folds=2)
    plan.assignment[dataset.y == 2] = 0
    config = ALGORITHMS["decision_tree"].space("multiclass").default()
    member = fit_member(dataset, ALGORITHMS["decision_tree"], config, seed=0, plan=plan)

    model = load(Model.of(dataset, [member], metric="accuracy").save(tmp_path))

    probabilities = model.predict_proba(frame)
    assert probabilities.shape == (40, 3)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(40))


def test_anyone_can_look_into_a_model_file(make_model, tmp_path):
    path = make_model("binary").save(tmp_path)

    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read("model.json"))

    assert about["target"] == "y"
    assert about["members"][0]["algorithm"] == "decision_tree"


def test_rounds_that_an_older_file_holds_beyond_the_best_are_no_part_of_the_answer(make_model, make_table, tmp_path):
    model = make_model("binary", ["gradient_boosting"])
    expected = model.predict_proba(make_table())
    booster = model.members[0].estimators[0].model_.model_
    booster._predictors.extend(booster._predictors[:3])

    again = load(model.save(tmp_path))

    assert np.array_equal(again.predict_proba(make_table()), expected)
