"""Columns that group rows or order them in time."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import ColumnOptions, from_frame
from metaml.errors import BadDataset, BadRequest

N = 40


def table(**columns):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=N), **columns, "y": np.arange(N) % 2})


def test_a_group_is_no_feature_unless_it_is_kept():
    frame = table(who=[f"c{k % 5}" for k in range(N)])

    dropped = from_frame(frame, "y", options=ColumnOptions(group="who"))
    kept = from_frame(frame, "y", options=ColumnOptions(group="who", keeps_group=True))

    assert list(dropped.X.columns) == ["x"]
    assert list(kept.X.columns) == ["x", "who"]
    assert dropped.roles.groups.tolist() == kept.roles.groups.tolist() == (np.arange(N) % 5).tolist()


def test_rows_without_a_group_are_one_group():
    who = [f"c{k % 5}" for k in range(N)]
    who[3] = who[4] = None

    dataset = from_frame(table(who=who), "y", options=ColumnOptions(group="who"))

    assert dataset.roles.groups[[3, 4]].tolist() == [5, 5]
    assert "2 rows without a group" in " ".join(map(str, dataset.repairs))


@pytest.mark.parametrize(
    "times",
    [
        pd.date_range("2020-01-01", periods=N),
        pd.date_range("2020-01-01", periods=N).strftime("%d.%m.%Y"),
        np.arange(N) * 0.5,
        [f"{k:03d}" for k in range(N)],
    ],
)
def test_times_are_dates_or_numbers_and_stay_features(times):
    dataset = from_frame(table(when=times), "y", options=ColumnOptions(time="when"))

    assert np.all(np.diff(dataset.roles.times) > 0)
    assert any(name.startswith("when") for name in dataset.X.columns)


def test_a_row_without_a_time_is_dropped():
    times = np.arange(N, dtype=float)
    times[7] = np.nan

    dataset = from_frame(table(when=times), "y", options=ColumnOptions(time="when"))

    assert 7 not in dataset.rows
    assert len(dataset.y) == len(dataset.roles.times) == N - 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (ColumnOptions(group="whom"), "Did you mean 'who'"),
        (ColumnOptions(time="who"), "no dates or numbers"),
        (ColumnOptions(time="y"), "is the target"),
        (ColumnOptions(time="empty"), "no time at all"),
    ],
)
def test_a_column_that_cannot_have_the_role_is_refused(options, said):
    frame = table(who=[f"c{k % 5}" for k in range(N)], empty=[np.nan] * N)

    with pytest.raises((BadDataset, BadRequest), match=said):
        from_frame(frame, "y", options=options)


def test_a_group_to_keep_must_be_named():
    with pytest.raises(BadRequest, match="--group"):
        ColumnOptions(keeps_group=True)


def test_the_fingerprint_knows_roles_and_is_what_it_was_without_them():
    frame = table(when=np.arange(N), who=np.arange(N) % 5)
    plain = from_frame(frame, "y")
    kept = ColumnOptions(group="who", keeps_group=True)

    prints = {from_frame(frame, "y", options=o).fingerprint for o in (ColumnOptions(time="when"), kept)}

    assert len(prints | {plain.fingerprint}) == 3
    assert plain.roles.digest == b""


def test_options_survive_json():
    options = ColumnOptions(group="who", keeps_group=True, time="when")

    assert ColumnOptions.from_json(options.as_json()) == options
    assert ColumnOptions().as_json() == {}
