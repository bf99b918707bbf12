"""From a raw table to a data set. A csv with every fault we know of: each is repaired and listed."""

import csv
import uuid
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaml.data import Dataset, from_frame, read_dataset
from metaml.errors import BadDataset

N_ROWS = 40


@pytest.fixture(scope="module")
def dirty(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    rng = np.random.default_rng(7)
    columns: list[tuple[str, Sequence[object]]] = [
        ("", list(range(N_ROWS))),
        ("customer_id", [int(number) for number in rng.permutation(N_ROWS) + 5000]),
        ("token", [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(N_ROWS)]),
        ("same", [3] * N_ROWS),
        ("nothing", [""] * N_ROWS),
        ("x", ["inf", "-Inf", *np.round(rng.normal(size=N_ROWS - 2), 3).tolist()]),
        ("x", ["1e308", *np.round(rng.normal(size=N_ROWS - 1), 3).tolist()]),
        ("mixed", ["broken", "None", "?", *np.round(rng.normal(size=N_ROWS - 3), 3).tolist()]),
        ("when", [f"{day:02}.{month:02}.2021" for day, month in rng.integers([1, 1], [28, 12], size=(N_ROWS, 2))]),
        ("answer", ["Yes", "no"] * (N_ROWS // 2)),
        (
            "remark",
            [" ".join(rng.choice(list("abcdefghij"), 9)) for _ in range(25)] + ["nothing to say here at all"] * 15,
        ),
        ("only_here", ["here"] * 10 + [""] * (N_ROWS - 10)),
        ("size", ["None", "small", "large", "NA"] * (N_ROWS // 4)),
        ("y", ["a", "b", "b", "a"] * (N_ROWS // 4 - 1) + ["a", "", "NA", "lonely"]),
    ]
    path = tmp_path_factory.mktemp("dirty") / "dirty.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([name for name, _ in columns])
        writer.writerows(zip(*(values for _, values in columns), strict=True))
    return read_dataset(path)


@pytest.mark.parametrize(
    ("column", "what", "why"),
    [
        ("column_1", "named by its position", "its header is empty"),
        ("column_1", "dropped", "it numbers the rows"),
        ("customer_id", "dropped", "all its values are different whole numbers and its name says id"),
        ("token", "dropped", "it holds UUIDs, 37 different ones in 37 filled cells"),
        ("same", "dropped", "the only value is 3"),
        ("nothing", "dropped", "every cell is missing"),
        ("x_2", "renamed from 'x'", "another column has that name"),
        ("x", "2 cells made missing", "infinite"),
        ("x_2", "1 cell made missing", "beyond ±1e+300"),
        ("mixed", "2 cells made missing: 'broken', 'None'", "the other cells are numbers"),
        ("when", "replaced by when_days, when_month, when_weekday", "it holds dates, read as %d.%m.%Y"),
        ("remark", "dropped", "it is free text"),
        ("only_here", "read as 1 where filled, 0 where missing", "the only value is 'here', in 10 rows"),
        ("y", "2 rows dropped", "the target is missing"),
        ("y", "1 row dropped", "a class with one member cannot be cross-validated: 'lonely'"),
    ],
)
def test_each_fault_is_listed_with_its_reason(dirty: Dataset, column: str, what: str, why: str) -> None:
    listed = [(repair.column, repair.what) for repair in dirty.repairs if repair.why.startswith(why)]

    assert (column, what) in listed


def test_only_usable_columns_remain(dirty: Dataset) -> None:
    expected = ["x", "x_2", "mixed", "when_days", "when_month", "when_weekday", "answer", "only_here", "size"]

    assert list(dirty.X.columns) == expected
    assert len(dirty.X) == N_ROWS - 3
    assert [column.kind for column in dirty.columns if column.kind not in ("numeric", "text")] == [
        "constant",
        "constant",
        "date",
        "boolean",
        "boolean",
        "category",
    ]


def test_every_feature_is_a_finite_float_or_a_sorted_text_category(dirty: Dataset) -> None:
    numbers = dirty.X.drop(columns="size")

    assert (numbers.dtypes == np.float64).all()
    assert not np.isinf(numbers.to_numpy()).any()
    assert dirty.X["size"].cat.categories.tolist() == ["None", "large", "small"]
    assert not dirty.X["size"].cat.ordered


def test_nothing_is_said_of_a_clean_table(tmp_path: Path) -> None:
    path = tmp_path / "clean.csv"
    path.write_text("a,b,y\n" + "1.5,red,no\n2.5,blue,yes\n3.5,red,no\n4.5,blue,yes\n" * 3)

    assert read_dataset(path).repairs == ()


def test_infinite_and_absurd_numbers_become_missing_and_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "extreme.csv"
    path.write_text("a,b,y\n" + "1,1,p\n2,2,q\n" * 5 + "inf,1.7e308,p\n-inf,3,q\n")

    dataset = read_dataset(path)

    assert [str(repair) for repair in dataset.repairs] == [
        "a: 2 cells made missing (infinite)",
        "b: 1 cell made missing (beyond ±1e+300, a stand-in for missing)",
    ]
    assert dataset.X.isna().sum().tolist() == [2, 1]


def test_a_row_number_is_recognised_although_rows_without_target_are_dropped() -> None:
    frame = pd.DataFrame({"id": range(9), "a": [0.5, 2.0, 1.0] * 3, "y": ["p", "q", None] * 3})

    assert list(from_frame(frame).X.columns) == ["a"]


def test_a_made_name_never_hides_a_raw_column() -> None:
    frame = pd.DataFrame(
        {
            "d": pd.date_range("2020-01-01", periods=N_ROWS).astype(str),
            "d_days": np.arange(N_ROWS) / 7,
            "y": ["p", "q"] * (N_ROWS // 2),
        }
    )

    X = from_frame(frame).X

    assert X.columns.is_unique
    assert X["d_days"].tolist() == frame["d_days"].tolist()


def test_a_table_without_a_usable_column_is_refused() -> None:
    frame = pd.DataFrame({"a": [1] * 8, "b": [f"w{row}" for row in range(8)], "y": ["p", "q"] * 4})

    with pytest.raises(BadDataset, match=r"no usable feature: a: dropped .the only value is 1.; b: dropped"):
        from_frame(frame)


def test_the_frame_given_is_left_as_it_was() -> None:
    frame = pd.DataFrame({"a": [np.inf, 1.0, 2.0] * 4, "a ": ["x", "y", "x"] * 4, "y": ["p", "q"] * 6})
    before = frame.copy(deep=True)

    from_frame(frame)

    pd.testing.assert_frame_equal(frame, before)
