"""Columns that are used as their user declares them."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import column_options, from_frame
from metaml.errors import BadDataset, BadRequest

N = 60


def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "zip": rng.integers(1000, 1010, N),
            "size": rng.choice(["S", "M", "L"], N),
            "income": [f"{k} EUR" if k % 20 else "unknown" for k in range(N)],
            "age": rng.normal(40, 9, N),
            "bought": np.arange(N) % 2,
        }
    )


def prepared(frame=None, **said):
    return from_frame(table() if frame is None else frame, "bought", options=column_options(**said))


def told(dataset):
    return " | ".join(map(str, dataset.repairs))


def test_only_the_columns_asked_for_are_features():
    dataset = prepared(columns="age, size")

    assert list(dataset.X.columns) == ["size", "age"]
    assert "2 columns left out: zip, income (not among the columns asked for)" in told(dataset)


def test_a_name_with_a_comma_is_one_name():
    frame = table().rename(columns={"age": "age, years"})

    assert list(prepared(frame, columns=["age, years", "size"]).X.columns) == ["size", "age, years"]


def test_numbers_can_be_categories():
    dataset = prepared(categorical="zip")

    assert isinstance(dataset.X["zip"].dtype, pd.CategoricalDtype)
    assert "zip: read as a category (declared as categorical, with 10 levels)" in told(dataset)


def test_an_identifier_is_used_if_it_is_declared():
    frame = table().assign(customer=[f"c{k}" for k in range(N)])

    assert "customer" not in prepared(frame).X
    assert "customer" in prepared(frame, categorical="customer").X


def test_words_that_are_no_numbers_are_missing_in_a_column_declared_numeric():
    frame = table().assign(code=[str(k % 3) if k % 4 else "x" for k in range(N)])

    dataset = prepared(frame, numeric="code")

    assert dataset.X["code"].dtype == np.float64
    assert int(dataset.X["code"].isna().sum()) == N // 4
    assert "code: 15 cells made missing (no number, but declared as numeric)" in told(dataset)


def test_levels_become_numbers_in_their_order():
    dataset = prepared(ordinal={"size": ["S", "M", "L"]})

    expected = table()["size"].map({"S": 0.0, "M": 1.0, "L": 2.0})
    assert dataset.X["size"].tolist() == expected.tolist()
    assert "declared as ordinal: S < M < L" in told(dataset)


def test_a_level_that_was_not_declared_is_missing_and_said_so():
    dataset = prepared(ordinal="size:S<L")

    assert dataset.X["size"].isna().tolist() == (table()["size"] == "M").tolist()
    assert "made missing: 'M' (not among the levels that were declared)" in told(dataset)
    applied = dataset.schema.read(table().head(2).assign(size=["XL", "L"]))
    assert applied.unreadable == {"size": 1}
    assert np.isnan(applied.X["size"].iloc[0])
    assert applied.X["size"].iloc[1] == 1.0


def test_the_levels_of_a_target_order_its_classes():
    frame = pd.DataFrame({"x": range(30), "grade": ["poor", "good", "fair"] * 10})

    plain, ordered = from_frame(frame), from_frame(frame, options=column_options(ordinal="grade:poor<fair<good"))

    assert plain.labels.tolist() == ["fair", "good", "poor"]
    assert ordered.labels.tolist() == ["poor", "fair", "good"]
    assert [ordered.labels[code] for code in ordered.y] == frame["grade"].tolist()
    assert ordered.fingerprint != plain.fingerprint


def test_levels_of_a_target_must_be_its_classes():
    frame = pd.DataFrame({"x": range(30), "grade": ["poor", "good", "fair"] * 10})

    with pytest.raises(BadDataset, match="'grade' has the class 'fair', which is not among its levels"):
        from_frame(frame, options=column_options(ordinal="grade:poor<good"))
    with pytest.raises(BadRequest, match="'x' is a number"):
        from_frame(frame, target="x", task="regression", options=column_options(ordinal="x:1<2"))


def test_a_level_may_hold_a_colon():
    frame = table().assign(start=np.where(np.arange(N) % 3, "8:00", "9:30"))

    assert set(prepared(frame, ordinal="start:8:00<9:30").X["start"]) == {0.0, 1.0}


def test_what_is_declared_makes_another_data_set():
    plain, declared = prepared(), prepared(ordinal="size:S<M<L")
    rising, falling = prepared(increasing="age"), prepared(decreasing="age")

    assert len({found.fingerprint for found in (plain, declared, rising, falling)}) == 4
    assert plain.fingerprint == from_frame(table(), "bought").fingerprint


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"columns": "wage"}, "has no column 'wage'.*Did you mean 'age'.*--columns"),
        ({"columns": "age", "numeric": "zip"}, "'zip' is not among --columns"),
        ({"numeric": "bought"}, "'bought' is the target"),
        ({"categorical": "zip", "numeric": "zip"}, "named by --categorical and --numeric"),
        ({"increasing": "age", "decreasing": "age"}, "named by --increasing and --decreasing"),
        ({"increasing": "size"}, "holds categories without an order.*--ordinal 'size:low<middle<high'"),
        ({"ordinal": "size:S<S"}, "two or more different ones"),
        ({"increasing": "income", "ordinal": "income:1<2", "columns": "income"}, "no different level"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(said, message):
    with pytest.raises((BadRequest, BadDataset), match=message):
        prepared(**said)


def test_several_classes_have_no_direction():
    frame = table().assign(bought=np.arange(N) % 3)

    with pytest.raises(BadRequest, match="are for two classes or a number"):
        prepared(frame, increasing="age")
