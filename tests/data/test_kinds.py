"""What a raw column is taken for."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from metaml.data import Dataset, from_frame
from metaml.errors import BadDataset

N_ROWS = 60
RNG = np.random.default_rng(11)


def prepared(values: Any, name: str = "it") -> Dataset:
    return from_frame(pd.DataFrame({name: values, "other": RNG.normal(size=N_ROWS), "y": ["p", "q"] * (N_ROWS // 2)}))


def cycled(*values: Any) -> list[Any]:
    return [values[row % len(values)] for row in range(N_ROWS)]


COLUMNS: list[tuple[str, Any, str]] = [
    ("floats", RNG.normal(size=N_ROWS), "numeric"),
    ("codes", cycled(1, 2, 3), "numeric"),
    ("different whole measurements", RNG.permutation(N_ROWS) * 7, "numeric"),
    ("nullable integers", pd.array(cycled(1, None, 3), dtype="Int64"), "numeric"),
    ("durations", pd.to_timedelta(np.arange(N_ROWS), unit="h"), "numeric"),
    ("numbers as text", [f" {value}" for value in range(N_ROWS)], "numeric"),
    ("money", [f"${value},{value + 100}.50" for value in range(1, N_ROWS + 1)], "numeric"),
    ("shares", [f"{value} %" for value in range(N_ROWS)], "numeric"),
    ("numbers and absent words", [*map(str, range(N_ROWS - 20)), *["None", "-"] * 10], "numeric"),
    ("codes and a word", cycled(*["1", "2", "3"] * 10, "3+"), "category"),
    ("half words", cycled("1.5", "2.5", "low"), "category"),
    ("words", cycled("red", "blue", "green"), "category"),
    ("None as a word", cycled("None", "Partial", "Full"), "category"),
    ("many levels", [f"level {row // 2}" for row in range(N_ROWS)], "category"),
    ("declared codes", pd.Categorical(cycled(1, 2, 3)), "category"),
    ("declared 0/1", pd.Categorical(cycled("0", "1")), "boolean"),
    ("truth values", cycled(True, False), "boolean"),
    ("truth values with gaps", cycled(True, False, None), "boolean"),
    ("yes and no", cycled("Yes", "no", "NO"), "boolean"),
    ("t and f", cycled("t", "f"), "boolean"),
    ("one word or nothing", cycled("x", None), "boolean"),
    ("one number or nothing", cycled(5.0, None), "boolean"),
    ("ISO dates", [f"2020-{row % 12 + 1:02}-{row % 28 + 1:02}" for row in range(N_ROWS)], "date"),
    ("moments", [f"2020-01-{row % 28 + 1:02}T{row % 24:02}:00:00Z" for row in range(N_ROWS)], "date"),
    ("stored dates", pd.date_range("2020-01-01", periods=N_ROWS, tz="Europe/Berlin"), "date"),
    ("dates in words", [f"{row % 28 + 1} Mar {1990 + row % 5}" for row in range(N_ROWS)], "date"),
    ("times of day", [f"{row % 24}:30" for row in range(N_ROWS)], "date"),
    ("different words", [f"word{row}" for row in range(N_ROWS)], "text"),
    ("one thing", cycled("same"), "constant"),
    ("nothing", cycled(None), "constant"),
    ("lists", cycled([1, 2], [3]), "category"),
]


@pytest.mark.parametrize(("values", "kind"), [row[1:] for row in COLUMNS], ids=[row[0] for row in COLUMNS])
def test_kind(values: Any, kind: str) -> None:
    assert prepared(values).columns[0].kind == kind


@pytest.mark.parametrize(
    ("name", "values", "is_kept"),
    [
        ("id", RNG.permutation(N_ROWS), False),
        ("customerID", RNG.permutation(N_ROWS) + 1000, False),
        ("id", cycled(1, 2, 3), True),
        ("humidity", RNG.permutation(N_ROWS), True),
        ("", range(N_ROWS), False),
        ("Unnamed: 0", range(1, N_ROWS + 1), False),
        ("index", range(N_ROWS), False),
        ("No", range(1, N_ROWS + 1), False),
        ("year", range(1, N_ROWS + 1), True),
        ("index", RNG.permutation(N_ROWS), True),
    ],
)
def test_a_column_that_names_the_rows_is_dropped_and_a_measurement_is_not(
    name: str, values: Any, is_kept: bool
) -> None:
    assert (prepared(list(values), name).X.shape[1] == 2) == is_kept


def test_a_row_number_is_recognised_although_rows_without_target_are_dropped() -> None:
    frame = pd.DataFrame({"id": range(9), "a": RNG.normal(size=9), "y": ["p", "q", None] * 3})

    assert list(from_frame(frame).X.columns) == ["a"]


def test_dates_become_the_parts_that_vary() -> None:
    moments = pd.date_range("1970-01-01 06:00", periods=N_ROWS, freq="36h")

    X = prepared(moments.astype(str)).X

    assert X["it_days"].tolist()[:2] == [0.25, 1.75]
    assert X["it_hour"].tolist()[:2] == [6.0, 18.0]
    assert X["it_weekday"].tolist()[:2] == [3.0, 4.0]
    assert X["it_month"].tolist()[-1] == 3.0
    assert "it_year" not in X


def test_the_whole_column_decides_which_is_day_and_which_is_month() -> None:
    days_first = prepared([f"{row % 28 + 1:02}/{row % 12 + 1:02}/2020" for row in range(N_ROWS)])
    months_first = prepared([f"{row % 12 + 1:02}/{row % 28 + 1:02}/2020" for row in range(N_ROWS)])

    assert days_first.X["it_month"].tolist() == months_first.X["it_month"].tolist()


def test_a_made_name_never_hides_a_raw_column() -> None:
    frame = pd.DataFrame(
        {
            "d": pd.date_range("2020-01-01", periods=N_ROWS).astype(str),
            "d_days": RNG.normal(size=N_ROWS),
            "y": ["p", "q"] * (N_ROWS // 2),
        }
    )

    X = from_frame(frame).X

    assert X.columns.is_unique
    assert X["d_days"].tolist() == frame["d_days"].tolist()


def test_stray_words_among_many_numbers_become_missing() -> None:
    dataset = prepared([*map(str, range(N_ROWS - 2)), "oops", "ouch"])

    assert dataset.X["it"].isna().sum() == 2
    assert "it: 2 cells made missing: 'oops', 'ouch' (the other cells are numbers)" in map(str, dataset.repairs)


def test_a_table_without_a_usable_column_is_refused() -> None:
    frame = pd.DataFrame({"a": [1] * 8, "b": [f"w{row}" for row in range(8)], "y": ["p", "q"] * 4})

    with pytest.raises(BadDataset, match=r"no usable feature: a: dropped .the only value is 1.; b: dropped"):
        from_frame(frame)


def test_the_frame_given_is_left_as_it_was() -> None:
    frame = pd.DataFrame({"a": [np.inf, 1.0, 2.0] * 4, "a ": ["x", "y", "x"] * 4, "y": ["p", "q"] * 6})
    before = frame.copy(deep=True)

    from_frame(frame)

    pd.testing.assert_frame_equal(frame, before)
