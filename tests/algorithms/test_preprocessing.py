"""The pipeline head: what comes out for which columns."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms.preprocessing import Head

Y = np.array([0, 1, 0, 1])
FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, np.nan, 3.0],
        "colour": pd.Categorical(["red", "blue", None, "red"]),
        "empty": [np.nan] * 4,
    }
)


def test_native_keeps_missing_numbers_and_marks_codes():
    head = Head(encoding="native")

    Z = head.fit_transform(FRAME, Y, 2)

    assert np.array_equal(Z, np.array([[1, 1], [2, 0], [np.nan, 2], [3, 1]]), equal_nan=True)
    assert head.categorical_.tolist() == [False, True]
    assert Z.dtype == np.float32


def test_unseen_levels_are_missing_in_native_and_minus_one_in_integer():
    new = FRAME.assign(colour=pd.Categorical(["green", "blue", "red", None]))
    native, integer = Head(encoding="native"), Head(encoding="integer")
    native.fit_transform(FRAME, Y, 2)
    integer.fit_transform(FRAME, Y, 2)

    assert np.array_equal(native.transform(new)[:, 1], [np.nan, 0, 1, 2], equal_nan=True)
    assert integer.transform(new)[:, 1].tolist() == [-1, 0, 1, 2]


def test_columns_above_the_boundary_are_impact_encoded():
    assert Head(encoding="one_hot", max_levels=3).fit_transform(FRAME, Y, 2).shape == (4, 1 + 3)
    assert Head(encoding="one_hot", max_levels=2).fit_transform(FRAME, Y, 2).shape == (4, 1 + 1)
    assert Head(encoding="impact").fit_transform(FRAME, Y, 2).shape == (4, 1 + 1)


def test_columns_of_few_levels_are_not_hashed():
    many = FRAME.assign(colour=pd.Categorical(list("abcd"))).loc[np.arange(40) % 4].reset_index(drop=True)
    many["town"] = pd.Categorical([f"town {k}" for k in range(40)])
    head = Head(encoding="hashed")

    Z = head.fit_transform(many, np.arange(40) % 2, 2)

    assert Z.shape == (40, 1 + 4 + 16)
    assert head.sources() == ["size", *["colour"] * 4, *["town"] * 16]


@pytest.mark.parametrize(("imputation", "filled"), [("mean", 2.0), ("median", 1.5)])
def test_missing_numbers_are_filled_from_the_training_rows(imputation, filled):
    train = pd.DataFrame({"x": [1.0, 1.0, 2.0, 4.0]})
    head = Head(encoding="integer", imputation=imputation)
    head.fit_transform(train, Y, 2)

    assert head.transform(pd.DataFrame({"x": [np.nan, 7.0]})).tolist() == [[filled], [7.0]]


@pytest.mark.parametrize("scaling", ["standard", "robust", "quantile"])
def test_scaled_columns_are_centred_and_comparable(scaling):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(1000, 50, 400), "b": rng.normal(0, 1e-3, 400), "same": np.ones(400)})
    head = Head(encoding="one_hot", imputation="mean", scaling=scaling, precision="float64")

    Z = head.fit_transform(X, np.zeros(400), None)

    assert np.median(Z[:, :2], axis=0) == pytest.approx([0, 0], abs=0.1)
    assert Z[:, :2].std(axis=0) == pytest.approx([1, 1], rel=0.15)
    assert len(np.unique(Z[:, 2])) == 1


def test_values_beyond_any_sense_stay_finite():
    X = pd.DataFrame({"x": [1e308, -1e308, 0.0, np.nan]})

    for scaling in ("standard", "robust", "quantile"):
        head = Head(encoding="one_hot", imputation="mean", scaling=scaling)
        assert np.isfinite(head.fit_transform(X, Y, 2)).all()


def test_a_frame_without_usable_columns_gives_one_constant_column():
    head = Head(encoding="native")

    assert head.fit_transform(FRAME[["empty"]], Y, 2).tolist() == [[0]] * 4
    assert head.transform(FRAME[["empty"]]).tolist() == [[0]] * 4
    assert head.categorical_.tolist() == [False]


def test_columns_are_found_by_name():
    head = Head(encoding="integer", imputation="mean")
    Z = head.fit_transform(FRAME, Y, 2)

    assert np.array_equal(head.transform(FRAME[["empty", "colour", "size"]]), Z)
