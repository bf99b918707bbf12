"""Numbers as a network sees them."""

import numpy as np
import pytest

from metaml.algorithms.neural.inputs import Inputs


def table(n_columns, n=200):
    return np.random.default_rng(0).normal(size=(n, n_columns)).astype(np.float32)


def test_the_intervals_of_a_column_fill_one_after_another():
    Z = table(1)
    inputs = Inputs(Z, n_bins=5)

    filled = inputs.of(np.sort(Z, axis=0))[:, 1:]

    assert filled[0] == pytest.approx(np.zeros(5), abs=1e-6)
    assert filled[-1] == pytest.approx(np.ones(5), abs=1e-6)
    assert (np.diff(filled, axis=0) >= 0).all()
    assert (np.diff(filled, axis=1) <= 0).all()


def test_columns_of_few_values_have_no_intervals():
    Z = np.column_stack([table(1), np.arange(200) % 3])

    inputs = Inputs(Z, n_bins=4)

    assert inputs.columns.tolist() == [0]
    assert inputs.of(Z)[:, :2] == pytest.approx(Z)


@pytest.mark.parametrize(("n_columns", "n_added"), [(10, 320), (100, 500), (300, 0)])
def test_a_wide_table_has_fewer_intervals_or_none(n_columns, n_added):
    assert Inputs(table(n_columns), n_bins=32).n_added == n_added


def test_a_value_that_most_rows_share_takes_no_harm():
    Z = table(1)
    Z[:150] = 0.5

    filled = Inputs(Z, n_bins=8).of(Z)

    assert np.isfinite(filled).all()
    assert filled[:, 1:].max() <= 1


def test_outliers_are_bounded():
    assert np.abs(Inputs(table(2), n_bins=4).of(np.array([[1e30, -1e30]]))).max() == 10
