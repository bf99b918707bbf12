"""The column that says how much each row counts."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import ColumnOptions, from_frame
from metaml.errors import BadDataset, BadRequest

N = 40
WEIGHTED = ColumnOptions(weight="w")


def table(weights):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=N), "w": weights, "y": np.arange(N) % 2})


def read(weights, options=WEIGHTED):
    return from_frame(table(weights), "y", options=options)


def test_the_weight_is_no_feature_and_counts_in_the_fingerprint():
    weighted, others = read(1.0 + np.arange(N) % 3), read(1.0 + np.arange(N) % 2)
    plain = from_frame(table(1.0).drop(columns="w"), "y")

    assert list(weighted.X.columns) == ["x"]
    assert weighted.row_weights.tolist() == (1.0 + np.arange(N) % 3).tolist()
    assert len({weighted.fingerprint, others.fingerprint, plain.fingerprint}) == 3


def test_rows_that_all_weigh_the_same_are_the_data_set_without_weights():
    weighted = read(np.full(N, 7.0))

    assert weighted.row_weights is None
    assert weighted.fingerprint == from_frame(table(1.0).drop(columns="w"), "y").fingerprint


def test_a_row_of_weight_zero_is_no_row():
    weights = 1.0 + np.arange(N) % 3
    weights[[2, 5]] = 0

    dataset = read(weights)

    assert dataset.rows.tolist() == [row for row in range(N) if row not in (2, 5)]
    assert "2 rows dropped" in " ".join(map(str, dataset.repairs))
    assert dataset.fingerprint == from_frame(table(weights).drop([2, 5]), "y", options=WEIGHTED).fingerprint


def test_fractions_only_compare_rows_and_whole_numbers_count_them():
    halves, whole = read(0.5 + np.arange(N) % 2), read(1.0 + np.arange(N) % 2)

    assert halves.row_weights[:2].tolist() == [0.5, 1.5]
    assert whole.row_weights[:2].tolist() == [1.0, 2.0]
    assert halves.fingerprint == read((0.5 + np.arange(N) % 2) / 8).fingerprint != whole.fingerprint


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda w: np.where(np.arange(N) == 3, -1.0, w), "1 negative weight, such as -1"),
        (lambda w: 0 * w, "All weights in the column 'w' are zero"),
        (lambda w: np.where(np.arange(N) < 2, np.nan, w), "no weight for 2 of 40 rows"),
        (lambda w: np.where(np.arange(N) < 2, np.inf, w), "no weight for 2 of 40 rows"),
        (lambda _: [f"heavy{k}" for k in range(N)], "holds no numbers, but 'heavy0'"),
        (lambda _: ["heavy", *["1.5"] * (N - 1)], "no weight for 1 of 40 rows"),
    ],
)
def test_a_bad_weight_is_one_sentence(spoil, message):
    with pytest.raises(BadDataset, match=message):
        read(spoil(1.0 + np.arange(N) % 3))


def test_the_weight_is_another_column_than_the_target_and_is_there():
    with pytest.raises(BadRequest, match="is the target, so it cannot be the weight"):
        read(1.0, ColumnOptions(weight="y"))
    with pytest.raises(BadDataset, match="Choose one with --weight"):
        read(1.0, ColumnOptions(weight="z"))
