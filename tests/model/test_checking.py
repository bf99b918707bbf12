"""A model says whether new rows are like its training rows, and what differs."""

import json
from dataclasses import replace

import numpy as np
import pytest

from metaml.data import from_frame
from metaml.errors import BadDataset, BadRequest
from metaml.model import load
from metaml.model.sample import sample_of
from tests.model.conftest import model_of, table


@pytest.fixture(scope="module")
def model():
    """A model of two classes with its training rows."""
    dataset = from_frame(table(n=400), target="y")
    return replace(model_of(n_rows=400), sample=sample_of(dataset, None, np.random.default_rng(0)))


def test_rows_of_the_same_kind_pass(model):
    found = model.check(table(n=200, seed=1))

    assert (found.differs, found.reasons, found.is_target_known) == (False, (), True)


def test_a_column_that_moved_is_named(model):
    found = model.check(table(n=200, seed=1).assign(size=lambda frame: frame["size"] * 3 + 4))

    assert found.differs
    assert found.reasons[0].startswith("A classifier tells these rows from the training rows (AUC 0.")
    assert found.table()["column"][0] == "size"


def test_later_rows_do_not_differ_by_the_column_of_their_time(model):
    of_time = replace(model, facts={**model.facts, "time": "count"})
    later = table(n=200, seed=1).assign(count=lambda frame: frame["count"] + 100)

    found = of_time.check(later)

    assert (model.check(later).differs, found.differs) == (True, False)
    assert "count" not in found.separation.shares


def test_new_categories_are_counted(model):
    new = table(n=200, seed=1)
    new.loc[:49, "colour"] = "violet"

    found = model.check(new)

    assert found.new_categories == {"colour": {"violet": 50}}
    assert any("colour has categories" in reason and "'violet'" in reason for reason in found.reasons)


def test_a_missing_column_is_a_difference(model):
    found = model.check(table(n=200, seed=1).drop(columns="zone"))

    assert found.missing == ("zone",)
    assert "Columns are missing: zone." in found.reasons


def test_a_target_that_shifted_is_noticed_and_without_one_the_predictions_are_looked_at(model):
    new = table(n=200, seed=1)

    shifted = model.check(new.assign(y="good"))
    without = model.check(new.drop(columns="y"))

    assert any("The target y is distributed differently" in reason for reason in shifted.reasons)
    assert (without.is_target_known, without.target.column) == (False, "y")


def test_what_was_found_is_plain_json_and_the_same_after_saving(model, tmp_path):
    new = table(n=100, seed=1)

    again = load(model.save(tmp_path)).check(new)

    assert json.loads(json.dumps(again.to_dict())) == json.loads(json.dumps(model.check(new).to_dict()))


def test_what_cannot_be_compared_is_one_sentence(model):
    with pytest.raises(BadDataset, match="5 rows are too few"):
        model.check(table(n=5))
    with pytest.raises(BadRequest, match="without --no-sample"):
        replace(model, sample=None).check(table(n=50))
    with pytest.raises(BadRequest, match=r"from 0\.5 to 1"):
        model.check(table(n=50), limit=7)
