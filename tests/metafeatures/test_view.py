"""A data set as two matrices, and parts of it that are always the same."""

import numpy as np
import pandas as pd

from metaml.data import from_frame
from metaml.metafeatures.view import View, n_distinct_values, scaled, small_sample, view_of


def wide(n_columns: int):
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=60) for i in range(n_columns)}
    return from_frame(pd.DataFrame({**columns, "y": rng.choice(["a", "b"], 60)}), target="y", task="binary")


def test_a_subsample_is_the_same_every_time():
    view = view_of(wide(12))

    once, again = small_sample(view, 20, 5), small_sample(view, 20, 5)

    assert once.numbers.shape == (20, 5)
    assert (once.numbers == again.numbers).all()


def test_booleans_count_as_categories_and_gaps_are_marked(shop):
    view = view_of(shop)

    assert (view.numbers.shape, view.codes.shape) == ((8, 2), (8, 2))
    assert np.isnan(view.numbers[4, 1])
    assert view.codes[7, 1] == -1
    assert (view.n_rows, view.n_columns, view.n_classes, view.is_regression) == (8, 4, 2, False)


def test_rows_and_columns_can_be_taken(shop):
    view = view_of(shop).take(np.array([0, 7])).keep(np.array([0]), np.array([1]))

    assert view.numbers.tolist() == [[1.5], [8.5]]
    assert view.codes.shape == (2, 1)


def test_learners_see_numbers_between_zero_and_one_and_only_the_classes_there_are():
    view = View(
        np.array([[1e200], [np.nan], [-1e200]]), np.zeros((3, 0), dtype=int), np.array([0, 2, 2]), 3, "multiclass"
    )

    found = scaled(view)

    assert found.numbers[[0, 2], 0].tolist() == [1.0, 0.0]
    assert (found.y.tolist(), found.n_classes) == ([0, 1, 1], 2)


def test_missing_values_are_no_values():
    assert n_distinct_values(np.array([[1.0, np.nan], [1.0, np.nan], [2.0, 3.0]])).tolist() == [2, 1]
    assert n_distinct_values(np.zeros((0, 2))).tolist() == [0, 0]
