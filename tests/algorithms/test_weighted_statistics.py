"""Statistics of weighted rows: those of rows that are there as often as they weigh."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml.algorithms.weighted_statistics import weighted_middles, weighted_moments, weighted_quantiles

CELLS = st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 4)), min_size=1, max_size=20).filter(
    lambda rows: any(count for _, count in rows)
)


@settings(max_examples=60)
@given(CELLS)
def test_whole_weights_are_repeated_rows(rows):
    values, counts = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    repeated = np.repeat(values, counts)
    shares = [0.0, 0.25, 0.5, 0.8, 1.0]

    assert weighted_quantiles(values, counts.astype(float), shares) == pytest.approx(np.quantile(repeated, shares))
    mean, deviation = weighted_moments(values[:, None], counts.astype(float))
    assert mean[0] == pytest.approx(repeated.mean(), abs=1e-6)
    assert deviation[0] == pytest.approx(repeated.std(), abs=1e-6)


def test_quantiles_do_not_depend_on_the_unit_of_small_weights():
    values, weight = np.array([5.0, 1.0, 3.0]), np.array([0.2, 0.4, 0.1])

    assert weighted_quantiles(values, weight, [0.5]) == pytest.approx(weighted_quantiles(values, weight / 9, [0.5]))


def test_missing_cells_do_not_count_and_an_empty_column_has_zero():
    columns = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]])

    assert weighted_middles(columns, np.array([3.0, 1.0, 1.0]), is_median=False).tolist() == [1.5, 0.0]
    assert weighted_middles(columns, np.array([3.0, 1.0, 1.0]), is_median=True).tolist() == [1.0, 0.0]
