"""A single row is read as a whole table is, to the last bit, whatever its columns hold."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.data.row_reader import RowReader

N = 60


@pytest.fixture(scope="module")
def frame():
    """Return a table with columns of every kind, some of whose cells are missing."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    table = pd.DataFrame(
        {
            "float": rng.normal(size=N),
            "int": rng.integers(0, 10**12, N),
            "small": rng.normal(size=N).astype(np.float32),
            "flag": rng.random(N) < 0.5,
            "yes": rng.choice(["yes", "No"], N),
            "town": rng.choice([" Ulm", "Bonn", "?", "1.0"], N),
            "kind": pd.Categorical(rng.choice(["x", "y", "z"], N)),
            "words": rng.choice(["1,5", "2.5", "none"], N),
            "day": days,
            "written": days.strftime("%d.%m.%Y"),
            "filled": np.where(rng.random(N) < 0.5, "there", None),
        }
    )
    table.loc[rng.random(N) < 0.2, ["float", "town", "day"]] = None
    return table.assign(y=rng.integers(0, 2, N))


def assert_same(schema, reader, row):
    """Check that a row has the features that a table of it has."""
    whole, own = schema.read(row), reader.read(row)
    for name, column in whole.X.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            (level,) = column.astype(object).where(column.notna(), None)
            assert own.words[name] == level, name
        else:
            assert np.array_equal(own.values[own.places[name]], column.iloc[0], equal_nan=True), name
    assert (own.missing, dict(own.unreadable)) == (whole.missing, dict(whole.unreadable))


def test_every_row_has_the_features_of_its_table(frame):
    schema = from_frame(frame, target="y").schema
    reader = RowReader(schema)

    for _ in range(2):
        for place in range(len(frame)):
            assert_same(schema, reader, frame.iloc[[place]])


@pytest.mark.parametrize(
    "change",
    [
        {"town": "Rome"},
        {"float": np.inf},
        {"float": "3.5"},
        {"float": True},
        {"flag": None},
        {"int": 7.5},
        {"kind": 3},
        {"town": 1.0},
        {"town": pd.NA},
        {"day": "2024-05-06"},
        {"written": "soon"},
        {"filled": 0.0},
        {"yes": [1]},
    ],
    ids=str,
)
def test_an_odd_cell_means_the_same_as_in_a_table(frame, change):
    schema = from_frame(frame, target="y").schema
    reader = RowReader(schema)
    row = frame.iloc[[3]].astype(object)
    ((name, value),) = change.items()
    row[name] = pd.Series([value], index=row.index, dtype=object)

    assert_same(schema, reader, frame.iloc[[3]])
    assert_same(schema, reader, row)


def test_columns_may_be_absent_or_in_another_order(frame):
    schema = from_frame(frame, target="y").schema
    reader = RowReader(schema)

    assert_same(schema, reader, frame.iloc[[5]][["town", "kind", "float"]])
    assert_same(schema, reader, frame.iloc[[5]][list(frame.columns[::-1])])
