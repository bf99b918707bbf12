"""A model takes tables as they come: other order, other types, new words, fewer columns."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.errors import BadDataset, BadRequest
from metaml.model import Model, fit_member


@pytest.fixture
def model(make_model):
    return make_model("binary", ["random_forest"])


@pytest.fixture
def new(make_table):
    return make_table("binary", n=30, seed=5).drop(columns="y")


def test_the_order_and_the_number_of_columns_do_not_matter(model, new):
    shuffled = new[new.columns[::-1]].assign(extra="x", y="good")

    assert np.array_equal(model.predict_proba(shuffled), model.predict_proba(new))
    assert model.answer(shuffled).notes == ()


@pytest.mark.parametrize("name", ["decision_tree", "elastic_net", "lightgbm"])
def test_a_row_alone_is_predicted_as_in_a_table_to_the_last_bit(make_model, new, name):
    model = make_model("binary", [name])
    rows = [new.iloc[[place]] for place in range(len(new))]

    alone = [model.answer(row) for row in rows]
    tables = [model.outputs(model.schema.read(row).X) for row in rows]

    assert all(np.array_equal(one.probabilities, table) for one, table in zip(alone, tables, strict=True))
    assert [one.notes for one in alone] == [()] * len(rows)


def test_integers_read_as_floats_are_the_same(model, new):
    as_floats = new.assign(zone=pd.to_numeric(new["zone"]), count=new["count"].astype(float))

    assert np.array_equal(model.predict_proba(as_floats), model.predict_proba(new))


def test_the_index_of_a_frame_does_not_matter(model, new):
    moved = new.set_axis(np.arange(100, 100 + len(new))[::-1])

    assert np.array_equal(model.predict(moved), model.predict(new))


def test_one_note_names_all_new_categories(model, new):
    answer = model.answer(new.assign(colour="violet", open="maybe"))

    assert len(answer.predictions) == len(new)
    assert answer.notes == (
        "Cells with values that the training data did not have were read as missing: colour (30), open (30).",
    )


def test_words_for_no_value_among_numbers_need_no_note(model, new):
    answer = model.answer(new.assign(size="-", count="unknown"))

    assert np.array_equal(answer.probabilities, model.predict_proba(new.assign(size=None, count=None)))
    assert answer.notes == ()


def test_a_missing_column_is_noted_and_read_as_missing_values(model, new):
    answer = model.answer(new.drop(columns="colour"))

    assert np.array_equal(answer.probabilities, model.predict_proba(new.assign(colour=None)))
    assert answer.notes == ("The table has no column colour: read as missing values.",)


def test_a_table_that_lacks_most_columns_is_refused(model, new):
    with pytest.raises(BadDataset, match=r"lacks 3 of the 5 columns that the model needs: size, count, colour\."):
        model.predict(new[["zone", "open"]])


def test_labels_come_back_in_their_own_type(make_model, make_table):
    predictions = make_model("multiclass").predict(make_table("multiclass"))

    assert set(predictions.tolist()) <= {0, 10, 20}
    assert predictions.dtype.kind == "i"


def test_a_number_has_no_probabilities(make_model, make_table):
    with pytest.raises(BadRequest, match="predicts the number 'y'"):
        make_model("regression").predict_proba(make_table("regression"))


def test_no_rows_give_no_predictions(model, new):
    assert model.predict(new[:0]).shape == (0,)
    assert model.predict_proba(new[:0]).shape == (0, 2)


def test_other_versions_are_noted(make_model):
    model = make_model("binary")
    older = replace(model, versions={**model.versions, "scikit-learn": "0.19.2", "xgboost": "0.1", "numpy": "1.0"})

    (note,) = older.notes

    assert note.startswith("The model was made with scikit-learn 0.19.2 (here ")
    assert "xgboost" not in note


def test_multipliers_move_the_labels_but_not_the_probabilities(make_model, make_table):
    new = make_table("binary", n=60, seed=4)

    plain = make_model("binary").answer(new)
    moved = make_model("binary", multipliers=np.array([1.0, 1e-9])).answer(new)

    assert "good" in set(plain.predictions)
    assert set(moved.predictions[plain.probabilities[:, 0] > 0]) == {"bad"}
    assert np.array_equal(plain.probabilities, moved.probabilities)


def test_members_are_averaged_by_weight(make_table):
    dataset = from_frame(make_table("regression"), target="y")
    algorithm = ALGORITHMS["decision_tree"]
    configs = [{**algorithm.space("regression").default(), "max_depth": depth} for depth in (1, 8)]
    members = [fit_member(dataset, algorithm, c, seed=0, weight=w) for c, w in zip(configs, (0.25, 0.75), strict=True)]
    alone = [Model.of(dataset, [member], metric="neg_rmse").predict(make_table()) for member in members]

    together = Model.of(dataset, members, metric="neg_rmse").predict(make_table())

    assert together == pytest.approx(0.25 * alone[0] + 0.75 * alone[1])
