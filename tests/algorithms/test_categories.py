"""Category columns become numbers that stay the same and never leak a row's own target."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms.categories import HASHED_COLUMNS, UNSEEN, Impact, Levels, hashed, impact_targets, one_hot


@pytest.mark.parametrize("has_missing", [True, False])
def test_the_code_of_one_level_is_that_of_a_row(has_missing):
    levels = Levels(pd.Series(["b", "a", None] if has_missing else ["b", "a"], dtype="category"))
    asked = ["a", "b", "c", None]

    assert [levels.code_of(level).item() for level in asked] == levels.codes(pd.Series(asked, dtype=object)).tolist()


def test_codes_follow_the_name_of_a_level_not_its_place():
    levels = Levels(pd.Series(pd.Categorical(["b", "d"], categories=["a", "b", "c", "d"])))

    new = pd.Series(pd.Categorical(["d", "c", "b", "zz"], categories=["zz", "d", "c", "b"]))

    assert levels.count == 2
    assert levels.codes(new).tolist() == [1, UNSEEN, 0, UNSEEN]


def test_a_missing_value_is_a_level_only_if_training_had_one():
    column = pd.Series(pd.Categorical(["a", None]))

    assert Levels(column).codes(column).tolist() == [0, 1]
    assert Levels(column[:1]).codes(column).tolist() == [0, UNSEEN]


def test_an_unseen_level_is_all_zeros_in_one_hot():
    assert one_hot(np.array([2, UNSEEN]), 3).tolist() == [[0, 0, 1], [0, 0, 0]]


def test_many_levels_share_few_columns_by_their_names():
    names = [f"level {k}" for k in range(40)]
    whole, part = Levels(pd.Series([*names, None])), Levels(pd.Series(names[20:]))

    Z = hashed(whole.codes(pd.Series([*names, None, "new"])), whole)

    assert Z.shape == (42, HASHED_COLUMNS)
    assert (np.abs(Z).sum(axis=1) == [1.0] * 41 + [0.0]).all()
    assert len(np.unique(Z, axis=0)) > 20
    assert np.array_equal(Z[20:40], hashed(part.codes(pd.Series(names[20:])), part))


def test_impact_is_the_smoothed_mean_of_a_level():
    codes = np.repeat([0, 1], [10, 30])
    y = np.repeat([1, 0], [10, 30])
    impact = Impact()

    impact.fit_transform(codes, 2, impact_targets(y, 2), np.random.default_rng(0))

    overall = 0.25
    expected = [(10 + 10 * overall) / 20, (0 + 10 * overall) / 40, overall]
    assert impact.transform(np.array([0, 1, UNSEEN]))[:, 0] == pytest.approx(expected)


def test_impact_of_a_training_row_ignores_its_own_target():
    codes = np.arange(50)  # every row has a level of its own: without its target nothing is known
    y = np.arange(50) % 2

    values = Impact().fit_transform(codes, 50, impact_targets(y, 2), np.random.default_rng(0))

    assert values[:, 0] == pytest.approx(np.full(50, 0.5))


def test_impact_has_a_column_per_class_up_to_twenty():
    y = np.concatenate([np.arange(30), np.arange(5, 25)])

    assert impact_targets(np.array([0, 1, 2]), 3).shape == (3, 3)
    assert impact_targets(np.array([0, 1, 1]), 2).shape == (3, 1)
    assert impact_targets(y, 30).sum() == 40  # the twenty classes that have two members
