"""A model says how sure it is: by its folds if it has them, by its errors otherwise, and the same after saving."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.errors import BadModel, BadRequest
from metaml.model import Model, fit_member, load
from metaml.model.archive import read_archive, write_archive
from metaml.model.uncertainty import Uncertainty
from metaml.splits import make_plan


@pytest.fixture(scope="module")
def folded():
    """The function that makes a model of three folds that knows its errors."""
    from tests.model.conftest import table

    def made(task="regression", *, plan_in_members=True, scales=()):
        dataset = from_frame(table(task, n=150), target="y")
        plan = make_plan(dataset, 3)
        algorithm = ALGORITHMS["decision_tree"]
        config = algorithm.space(task).default()
        member = fit_member(dataset, algorithm, config, seed=0, plan=plan if plan_in_members else None)
        model = Model.of(dataset, [member], metric="rmse")
        of_folds = replace(model, members=(fit_member(dataset, algorithm, config, seed=0, plan=plan),))
        errors = np.empty(len(dataset.y))
        for fold in range(3):
            test = plan.split(fold)[1]
            output = of_folds.outputs(dataset.X.iloc[test], fold)
            errors[test] = (
                1 - output[np.arange(len(test)), dataset.y[test]]
                if dataset.labels is not None
                else (np.abs(dataset.y[test] - output))
            )
        return replace(model, uncertainty=Uncertainty(errors, plan.assignment, scales))

    return made


@pytest.mark.parametrize("has_folds", [True, False])
def test_intervals_hold_most_new_values_with_and_without_fold_models(folded, make_table, has_folds):
    model, new = folded(plan_in_members=has_folds), make_table("regression", n=400, seed=5)

    found = model.predict_interval(new, 0.8)

    assert model.n_fold_models == (3 if has_folds else 0)
    assert found.columns.tolist() == ["low", "high"]
    assert np.mean((found["low"] <= new["y"]) & (new["y"] <= found["high"])) == pytest.approx(0.8, abs=0.1)


def test_a_larger_coverage_gives_wider_intervals_that_keep_the_index(folded, make_table):
    model, new = folded(), make_table("regression", n=20).set_index(np.arange(100, 120))

    narrow, wide = model.predict_interval(new, 0.5), model.predict_interval(new, 0.95)

    assert (wide["low"] < narrow["low"]).all()
    assert (wide["high"] > narrow["high"]).all()
    assert narrow.index.tolist() == list(range(100, 120))


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_sets_begin_with_the_most_probable_label_and_hold_the_predicted_one(folded, make_table, task):
    model, new = folded(task), make_table(task, n=300, seed=5)

    sets = model.predict_interval(new, 0.9)["set"]

    predicted = model.predict(new)
    assert all(label in found for label, found in zip(predicted, sets, strict=True))
    assert [found[0] for found in sets] == predicted.tolist()
    assert np.mean([label in found for label, found in zip(new["y"], sets, strict=True)]) >= 0.85
    assert sets.map(len).max() > 1


def test_expected_errors_scale_the_intervals(folded, make_table):
    dataset = from_frame(make_table("regression", n=150), target="y")
    plain = folded()
    table = plain.schema.apply(make_table("regression", n=150))
    from metaml.ensemble.layers import with_predictions

    algorithm = ALGORITHMS["decision_tree"]
    larger = replace(
        dataset, X=with_predictions(table, [plain.outputs(table)]), y=(dataset.X["size"] > 0).to_numpy(float)
    )
    scale = fit_member(larger, algorithm, algorithm.space("regression").default(), seed=0).estimators[0]
    model = replace(plain, uncertainty=replace(plain.uncertainty, scales=(scale,) * 3))

    found = model.predict_interval(make_table("regression", n=150), 0.8)

    width, is_large = found["high"] - found["low"], dataset.X["size"] > 0
    assert width[is_large].mean() > 1.5 * width[~is_large].mean()


def test_a_saved_model_gives_the_same_intervals(folded, make_table, tmp_path):
    scale = folded().members[0].estimators[0]
    model = folded("multiclass")

    again = load(model.save(tmp_path / "sets.zip"))

    rows = make_table("multiclass", n=40)
    assert again.predict_interval(rows)["set"].tolist() == model.predict_interval(rows)["set"].tolist()
    kept = load(folded(scales=(scale,)).save(tmp_path / "scaled.zip")).uncertainty
    assert (len(kept.scales), kept.n_folds) == (1, 3)


def test_a_model_without_errors_says_what_to_do(make_model, make_table):
    with pytest.raises(BadRequest, match="Run metaml tune again to get intervals"):
        make_model().predict_interval(make_table())


@pytest.mark.parametrize("wrong", [[[1.0], [0, 1], []], "x", {"tuple": []}])
def test_errors_that_do_not_fit_together_are_a_sentence(folded, tmp_path, wrong):
    about, parts, content = read_archive(folded().save(tmp_path))

    write_archive(tmp_path / "wrong.zip", about, {**parts, "uncertainty": wrong}, content)

    with pytest.raises(BadModel, match="does not fit together"):
        load(tmp_path / "wrong.zip")


@pytest.mark.parametrize("errors", [[], [[1.0]], [-1.0], [np.nan]])
def test_errors_must_be_numbers_that_are_not_negative(errors):
    with pytest.raises(ValueError, match="errors of a model"):
        Uncertainty(np.array(errors), np.zeros(np.shape(errors), dtype=int))
