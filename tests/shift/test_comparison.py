"""Tables that differ are told apart, by the columns that differ; tables that do not are not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from metaml.shift.comparison import auc_error, column_shifts, separation, share_shift, value_shift


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    words = pd.Categorical(rng.choice(["x", "y", "z"], n), categories=["x", "y", "z"])
    return pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "word": words})


def test_rows_of_the_same_kind_cannot_be_told_apart():
    found = separation(table(), table(seed=1))

    assert abs(found.auc - 0.5) < 2.5 * found.error


def test_a_column_that_moved_tells_them_apart_and_is_named():
    new = table(seed=1).assign(b=lambda frame: frame["b"] + 2)

    found = separation(table(), new)

    assert found.auc > 0.85
    assert max(found.shares, key=found.shares.get) == "b"
    assert sum(found.shares.values()) == pytest.approx(1.0)


def test_a_relation_that_changed_is_noticed_although_no_column_moved():
    old, new = table(1000), table(1000, seed=1)
    old, new = old.assign(b=old["a"] + 0.1 * old["b"]), new.assign(b=-new["a"] + 0.1 * new["b"])

    assert separation(old, new).auc > 0.9
    assert max(shift.distance for shift in column_shifts(old, new)) < 0.1


def test_columns_come_by_how_far_they_moved_with_their_missing_values():
    new = table(seed=1)
    new["word"] = pd.Categorical(["z"] * len(new), categories=["x", "y", "z"])
    new.loc[:149, "a"] = np.nan

    found = column_shifts(table(), new)

    assert found[0].column == "word"
    assert {shift.column: shift.missing for shift in found}["a"] == (0.0, 0.5)


def test_the_error_of_an_area_is_about_its_spread():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 80)
    areas = [roc_auc_score(truth, rng.normal(size=160) + 0.7 * truth) for _ in range(300)]

    assert auc_error(float(np.mean(areas)), 80, 80) == pytest.approx(np.std(areas), rel=0.2)


@pytest.mark.parametrize(("old", "new", "distance"), [([], [], 0.0), ([1.0], [], 1.0), ([np.nan], [np.nan], 0.0)])
def test_columns_without_values_are_no_error(old, new, distance):
    assert value_shift(np.array(old), np.array(new))[0] == distance


def test_shares_are_compared_by_total_variation():
    assert share_shift(np.repeat([0, 1], [50, 50]), np.repeat([0, 1], [90, 10]))[0] == pytest.approx(0.4)
    assert share_shift(np.zeros(5), np.zeros(5)) == (0.0, 1.0)
