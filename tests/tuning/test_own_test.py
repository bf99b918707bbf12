"""Labelled rows that a model is scored on: only those count whose target it can know."""

from dataclasses import replace

import pandas as pd
import pytest
from sklearn.datasets import load_iris

import metaml
from metaml.data import ColumnOptions, from_frame
from metaml.errors import BadDataset
from metaml.tuning.own_test import own_test

pytestmark = pytest.mark.usefixtures("one_pool")
IRIS = load_iris(as_frame=True).frame


@pytest.fixture(scope="module")
def model():
    options = {"algorithms": "decision_tree", "folds": 2, "iterations": 1, "kb": ":memory:", "metric": "accuracy"}
    return metaml.tune(IRIS, name="iris", **options).model


def test_every_metric_of_the_task_has_a_score_and_that_of_the_model_comes_first(model):
    table = metaml.evaluate(model, IRIS)

    assert table["metric"][0] == "accuracy"
    assert table["cross_validated"].tolist()[0] == model.score
    assert table["cross_validated"][1:].isna().all()
    assert {"neg_log_loss", "balanced_accuracy"} <= set(table["metric"])


def test_rows_with_a_label_that_the_model_does_not_know_are_left_out_with_a_warning(model):
    rows = IRIS.assign(target=[7, *IRIS["target"][1:]])

    with pytest.warns(UserWarning, match="1 row left out"):
        table = metaml.evaluate(model, rows, metric="accuracy")

    assert table["n_rows"].tolist() == [149]


def test_a_table_without_its_target_or_with_too_few_rows_is_refused(model):
    with pytest.raises(BadDataset, match="'target'"):
        metaml.evaluate(model, IRIS.drop(columns="target"))
    with pytest.raises(BadDataset, match=r"1 row with a known 'target'\. Give more\."):
        metaml.evaluate(model, IRIS.head(1))


def test_standard_errors_count_groups_where_rows_belong_together(model):
    persons = IRIS.sample(60, random_state=0).assign(person=range(60))
    persons.iloc[:15, 4] = (persons.iloc[:15, 4] + 1) % 3
    often = pd.concat([persons] * 6, ignore_index=True)
    dataset = from_frame(persons, target="target", options=ColumnOptions(group="person"))

    one, many = (own_test(rows, dataset).facts(model, "accuracy", dataset.y) for rows in (persons, often))
    alone = replace(own_test(often, dataset), groups=None).facts(model, "accuracy", dataset.y)

    assert many.score == one.score
    assert many.error == pytest.approx(one.error, rel=0.3)
    assert alone.error < 0.6 * one.error
