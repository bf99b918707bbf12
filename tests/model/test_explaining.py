"""Explanations of a whole model sum to its predictions, whatever it is made of."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.ensemble.calibration import Calibration
from metaml.ensemble.layers import second_layer_data
from metaml.errors import BadRequest
from metaml.model import Model, fit_member, load
from metaml.model.sample import sample_of
from metaml.splits import make_plan
from tests.model.conftest import cheap, table

MIXED = ("lightgbm", "decision_tree", "elastic_net")


def member_of(dataset, name, **options):
    config = cheap(ALGORITHMS[name].space(dataset.task).default(), dataset.task, name)
    return fit_member(dataset, ALGORITHMS[name], config, seed=0, **options)


def model_of(task, *, names=MIXED, has_folds=False, layers=1, **options):
    dataset = from_frame(table(task, n=150), target="y")
    plan = make_plan(dataset, 3) if has_folds else None
    members = [member_of(dataset, name, weight=1 / len(names), plan=plan) for name in names]
    if layers == 2:
        first = [replace(member, weight=0.0, feeds=True) for member in members]
        data = second_layer_data(dataset, [Model.of(dataset, [m], metric="auto").outputs(dataset.X) for m in members])
        members = [
            *first,
            replace(member_of(data, "lightgbm"), layer=2),
            replace(member_of(data, "elastic_net"), layer=2),
        ]
    model = Model.of(dataset, members, metric="auto", **options)
    return replace(model, sample=sample_of(dataset, None, np.random.default_rng(0)))


def gap_of(model, rows):
    found = model.explain(rows, samples=2)
    outputs = model.outputs(model.schema.apply(rows))
    expected = outputs if outputs.ndim == 2 else outputs[:, None]
    return np.abs(found.base + found.contributions.sum(axis=1) - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
@pytest.mark.parametrize("options", [{}, {"has_folds": True}, {"layers": 2}])
def test_contributions_sum_to_the_prediction(task, options):
    assert gap_of(model_of(task, **options), table(task, n=20, seed=3)) < 1e-6


def test_they_also_sum_to_it_before_any_correction_so_that_none_hides_an_error():
    from metaml.explanation.contributions import weighted_sum
    from metaml.model.explaining import _exact, _groups, _sampled

    model, rows = model_of("multiclass", has_folds=True), table("multiclass", n=20, seed=3)
    X, groups = model.schema.apply(rows), _groups(model)[1]

    exact = _exact(model, 0, X, groups)
    sampled = _sampled(model, [0.0, 1 / 3, 1 / 3], X, groups, 3, np.random.default_rng(0))

    assert weighted_sum([(exact, 1 / 3), (sampled, 1.0)]).total == pytest.approx(model.outputs(X), abs=1e-6)


@pytest.mark.parametrize("calibration", [Calibration("temperature", 0.4), Calibration("platt", 1.2, (0.4, -0.4))])
def test_a_calibrated_prediction_is_explained_as_it_is_given(calibration):
    assert gap_of(model_of("binary", calibration=calibration), table("binary", n=20)) < 1e-6


def test_the_columns_that_make_the_target_come_first_and_dates_count_as_one():
    frame = table("regression", n=150)
    found = model_of("regression").explain(frame)

    assert found.importance()["column"].tolist()[:2] == ["size", "colour"]
    assert found.columns == ("size", "count", "colour", "zone", "open")


def test_the_table_has_a_row_for_each_row_and_adds_up():
    model, rows = model_of("multiclass"), table("multiclass", n=10)

    predicted, of_class = model.explain(rows).table(), model.explain(rows).table(label=20)

    added = predicted["base"] + predicted.filter(like="contribution of ").sum(axis=1)
    assert added.to_numpy() == pytest.approx(predicted["output"].to_numpy(), abs=1e-9)
    assert predicted["class"].tolist() == predicted["prediction"].tolist() == model.predict(rows).tolist()
    assert set(of_class["class"]) == {20}
    assert of_class["output"].to_numpy() == pytest.approx(model.predict_proba(rows)[:, 2])


def test_the_same_seed_explains_the_same_and_a_saved_model_too(tmp_path):
    model, rows = model_of("binary"), table("binary", n=8)

    again = load(model.save(tmp_path))

    assert np.array_equal(again.explain(rows).contributions, model.explain(rows).contributions)


def test_without_training_rows_only_boosted_trees_can_be_explained():
    rows = table("binary", n=8)
    trees = replace(model_of("binary", names=("lightgbm",)), sample=None)

    assert gap_of(trees, rows) < 1e-6
    with pytest.raises(BadRequest, match="without --no-sample"):
        replace(model_of("binary"), sample=None).explain(rows)


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows_are_no_problem(rows):
    assert model_of("binary").explain(table("binary", n=20).head(rows)).contributions.shape == (rows, 5, 2)


def test_a_class_that_does_not_exist_is_one_sentence():
    found = model_of("binary").explain(table("binary", n=5))

    with pytest.raises(BadRequest, match=r"There is no class 'ugly' to explain. The classes are: bad, good"):
        found.table(label="ugly")
