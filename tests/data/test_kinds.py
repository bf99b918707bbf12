"""What a raw column is taken for."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from metaml.data import Dataset, from_frame

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


def test_stray_words_among_many_numbers_become_missing() -> None:
    dataset = prepared([*map(str, range(N_ROWS - 2)), "oops", "ouch"])

    assert dataset.X["it"].isna().sum() == 2
    assert "it: 2 cells made missing: 'oops', 'ouch' (the other cells are numbers)" in map(str, dataset.repairs)
