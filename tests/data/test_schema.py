"""The recipe: new rows get the same columns, order and types as the training rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metaml.data import Dataset, Schema, from_frame, read_dataset, read_frame
from metaml.errors import BadDataset

N_ROWS = 24


def awkward_frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=N_ROWS),
            "whole": rng.integers(0, 5, N_ROWS),
            "word": rng.choice(["red", "green", None], N_ROWS),
            "code": pd.Categorical(rng.choice([1, 2, 3], N_ROWS)),
            "flag": rng.choice(["yes", "no"], N_ROWS),
            "truth": rng.choice([True, False], N_ROWS),
            "there": ["x", None] * (N_ROWS // 2),
            "when": pd.date_range("2021-11-05", periods=N_ROWS, freq="31h").astype(str),
            "mixed": [*map(str, rng.normal(size=N_ROWS - 1)), "oops"],
            "same": 1,
            "y": rng.choice(["p", "q"], N_ROWS),
        }
    )
    frame.loc[3, "number"] = np.inf
    frame.loc[7, "y"] = None
    return frame


@pytest.fixture
def dataset() -> Dataset:
    return from_frame(awkward_frame())


def assert_same(applied: pd.DataFrame, X: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(applied, X, check_exact=True)


def test_training_rows_give_the_training_features(dataset: Dataset) -> None:
    applied = dataset.schema.apply(awkward_frame())

    assert_same(applied.iloc[dataset.rows].reset_index(drop=True), dataset.X)


def test_order_of_columns_and_extra_columns_do_not_matter(dataset: Dataset) -> None:
    frame = awkward_frame().assign(extra="?")

    shuffled = frame[sorted(frame.columns, reverse=True)]

    assert_same(dataset.schema.apply(shuffled), dataset.schema.apply(frame))


def test_missing_columns_are_all_missing_and_named(dataset: Dataset) -> None:
    applied = dataset.schema.read(awkward_frame().drop(columns=["number", "word"]))

    assert applied.missing == ("number", "word")
    assert applied.X[["number", "word"]].isna().all(axis=None)
    assert (applied.X.dtypes == dataset.X.dtypes).all()
    assert str(applied.notes[0]) == "number: read as all missing (the table has no such column)"


def test_unseen_categories_are_missing_and_counted(dataset: Dataset) -> None:
    frame = awkward_frame().head(4).assign(word=["red", "violet", "violet", None], flag=["maybe", "no", "yes", "Yes"])

    applied = dataset.schema.read(frame)

    assert applied.X["word"].isna().tolist() == [False, True, True, True]
    assert applied.X["word"].dtype == dataset.X["word"].dtype
    assert applied.X["flag"].fillna(-1).tolist() == [-1.0, 0.0, 1.0, 1.0]
    assert applied.unreadable == {"word": 2, "flag": 1}


def test_words_for_no_value_are_not_counted_among_numbers_and_dates(dataset: Dataset) -> None:
    words = ["-", "unknown", "None", "oops"]

    applied = dataset.schema.read(awkward_frame().head(4).assign(number=words, when=words, flag=words))

    assert applied.X[["number", "when_days", "flag"]].isna().all(axis=None)
    assert applied.unreadable == {"number": 1, "flag": 4, "when": 1}


@pytest.mark.parametrize("codes", [[1, 2, 3, 9], [1.0, 2.0, 3.0, 9.0], ["1.0", "2", "03", "9"]])
def test_a_code_is_the_same_category_however_it_is_spelled(dataset: Dataset, codes: list[Any]) -> None:
    frame = awkward_frame().head(4).assign(code=codes)

    applied = dataset.schema.apply(frame)["code"]

    assert applied.astype(object).fillna("-").tolist() == ["1", "2", "3", "-"]


@pytest.mark.parametrize("truth", [[True, False, None, True], ["TRUE", "false", "", "true"], [1.0, 0.0, None, 1.0]])
@pytest.mark.parametrize("how", ["boolean", "number"])
def test_a_truth_value_is_the_same_beside_a_gap(dataset: Dataset, truth: list[Any], how: Any) -> None:
    features = tuple(replace(one, how=how) if one.source == "truth" else one for one in dataset.schema.features)

    applied = replace(dataset.schema, features=features).read(awkward_frame().head(4).assign(truth=truth))

    assert applied.X["truth"].fillna(-1).tolist() == [1.0, 0.0, -1.0, 1.0]
    assert applied.unreadable == {}


def test_an_empty_table_and_one_row_keep_the_types(dataset: Dataset) -> None:
    for n_rows in (0, 1):
        applied = dataset.schema.apply(awkward_frame().head(n_rows))

        assert len(applied) == n_rows
        assert (applied.dtypes == dataset.X.dtypes).all()


def test_rows_read_back_from_csv_give_the_training_features(tmp_path: Any) -> None:
    path = tmp_path / "x.csv"
    awkward_frame().to_csv(path, index=False)
    dataset = read_dataset(path)

    assert_same(dataset.schema.apply(read_frame(path)).iloc[dataset.rows].reset_index(drop=True), dataset.X)


def test_a_gap_in_a_csv_leaves_the_other_truth_values_as_they_are(tmp_path: Any) -> None:
    whole, gappy = tmp_path / "whole.csv", tmp_path / "gappy.csv"
    whole.write_text("a,b,y\n" + "True,1,p\nFalse,2,q\n" * 4)
    gappy.write_text("a,b\nTrue,1\n,2\nFalse,1\n")

    applied = read_dataset(whole).schema.read(read_frame(gappy))

    assert applied.X["a"].fillna(-1).tolist() == [1.0, -1.0, 0.0]
    assert applied.notes == ()


@pytest.fixture
def headerless(tmp_path: Path) -> Dataset:
    path = tmp_path / "x.data"
    path.write_text("p,1.5,red,10\nq,2.5,blue,20\n" * 4)
    return read_dataset(path, target="column_1")


@pytest.mark.parametrize("text", ["p,1.5,red,10\nq,2.5,blue,20\n", "1.5,red,10\n2.5,blue,20\n"])
def test_columns_without_names_are_those_beside_the_target(headerless: Dataset, tmp_path: Path, text: str) -> None:
    (tmp_path / "new.data").write_text(text)

    applied = headerless.schema.read(read_frame(tmp_path / "new.data"))

    assert applied.missing == ()
    assert_same(applied.X, headerless.X.head(2))


@pytest.mark.parametrize(
    ("text", "numbers"), [("3,blue,20\n", [3.0]), ("3,blue,20\n4,red,7\n", [3.0, 4.0]), ("?,red,20\n", [None])]
)
def test_a_first_line_like_the_training_data_is_a_row(
    headerless: Dataset, tmp_path: Path, text: str, numbers: list[float | None]
) -> None:
    (tmp_path / "new.data").write_text(text)

    applied = headerless.schema.read(read_frame(tmp_path / "new.data", headerless.schema))

    assert [None if np.isnan(number) else number for number in applied.X["column_2"]] == numbers


def test_a_first_line_unlike_the_training_data_is_a_header(headerless: Dataset, tmp_path: Path) -> None:
    (tmp_path / "new.data").write_text("length,colour,price\n1.5,red,10\n")

    assert len(read_frame(tmp_path / "new.data", headerless.schema)) == 1


@pytest.mark.parametrize("text", ["1.5,red\n", "p,1.5,red,10,7\n"])
def test_another_number_of_columns_without_names_is_refused(headerless: Dataset, tmp_path: Path, text: str) -> None:
    (tmp_path / "new.data").write_text(text * 2)
    frame = read_frame(tmp_path / "new.data")

    with pytest.raises(BadDataset, match=f"has {frame.shape[1]} columns without names, but the training data had 4"):
        headerless.schema.read(frame)


def test_columns_with_names_are_known_by_them_though_training_had_none(headerless: Dataset) -> None:
    frame = pd.DataFrame({"column_4": [10, 20], "column_2": [1.5, 2.5]})

    applied = headerless.schema.read(frame)

    assert applied.missing == ("column_3",)
    assert applied.X["column_4"].tolist() == [10.0, 20.0]


def test_columns_with_names_in_training_may_be_fewer() -> None:
    frame = pd.DataFrame({"column_1": ["p", "q"] * 4, "column_2": range(8), "column_3": [1.5, 2.5] * 4})

    applied = from_frame(frame, target="column_1").schema.read(frame[["column_1", "column_2"]])

    assert applied.missing == ("column_3",)
    assert applied.X["column_2"].tolist() == list(range(8))


def test_a_schema_saved_before_reading_left_traces_in_it_is_read(headerless: Dataset) -> None:
    plain = headerless.schema.to_dict()
    del plain["n_columns"], plain["decimal_commas"]

    assert Schema.from_dict(plain) == replace(headerless.schema, n_columns=None)


@pytest.mark.parametrize("target", [["p", "q"], [True, False], [3, 7], [0.5, 2.0], [1.25, 2.5, 3.5, 4.5]])
def test_json_keeps_all_of_it(target: list[Any]) -> None:
    frame = awkward_frame().assign(y=(target * N_ROWS)[:N_ROWS])
    schema = from_frame(frame).schema

    again = Schema.from_json(json.dumps(json.loads(schema.to_json())))

    assert again == schema
    assert_same(again.apply(frame), schema.apply(frame))
    labels, labels_again = schema.label_array(), again.label_array()
    if labels is None or labels_again is None:
        assert labels is labels_again is None
    else:
        assert labels.dtype == labels_again.dtype
        assert labels.tolist() == labels_again.tolist()


cell_lists = st.sampled_from(
    [
        st.floats(width=64),
        st.integers(-(2**70), 2**70),
        st.booleans(),
        st.none() | st.sampled_from(["a", "b", "None", "1", "1.0", " a", "NA", "?"]),
        st.text(max_size=6),
        st.dates().map(str),
        st.none() | st.floats(allow_nan=False) | st.sampled_from(["x", "-"]),
        st.sampled_from(["yes", "no", ""]),
    ]
).flatmap(lambda cells: st.lists(cells, min_size=16, max_size=16))


@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(columns=st.lists(cell_lists, min_size=1, max_size=4), seed=st.integers(0, 99))
def test_any_table_gives_the_same_features_twice(columns: list[list[Any]], seed: int) -> None:
    frame = pd.DataFrame({f"c{place}": pd.Series(cells) for place, cells in enumerate(columns)})
    frame["steady"] = np.arange(16.0) ** 2
    frame["y"] = ["p", "q"] * 8
    shuffled = frame.sample(frac=1, axis=1, random_state=seed)

    dataset = from_frame(frame)
    applied = Schema.from_json(dataset.schema.to_json()).apply(shuffled)

    assert_same(applied, dataset.X)
    for name in dataset.X.columns:
        column = dataset.X[name]
        if column.dtype == np.float64:
            assert not np.isinf(column).any()
        else:
            assert column.cat.categories.tolist() == sorted(column.cat.categories)
