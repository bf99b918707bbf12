"""Curves along columns, and what two columns do together, for functions whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from metaml.explanation.effects import ColumnEffect, effect_along, interactions, parts_by, places_of, shares_at


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    return pd.DataFrame(
        {
            "a": a,
            "b": a + 0.05 * rng.normal(size=300),
            "kind": pd.Categorical(rng.choice(["x", "y", "z"], 300, p=[0.6, 0.3, 0.1])),
        }
    )


def column(values):
    return np.asarray(values, dtype=np.float64)[:, None]


def test_a_curve_is_the_function_of_its_column_and_has_the_mean_of_the_predictions(rows):
    places = places_of(rows["a"])

    curve = effect_along(lambda part: column(np.abs(part["a"])), rows, "a", places)[:, 0]

    assert curve == pytest.approx(np.abs(places), abs=0.1)


def test_a_correlated_column_that_the_model_does_not_use_has_a_flat_curve(rows):
    asked = []

    def predict(part):
        asked.append(part)
        return column(part["a"])

    curve = effect_along(predict, rows, "b", places_of(rows["b"]))

    assert np.ptp(curve) < 1e-9
    # No row far from the data was asked about: a and b stay together.
    assert max(np.abs(part["a"] - part["b"]).max() for part in asked) < 2.5


def test_levels_have_their_mean_predictions_and_shares(rows):
    places = places_of(rows["kind"])

    curve = effect_along(lambda part: column((part["kind"] == "y") * 2.0), rows, "kind", places)[:, 0]

    assert places == ("x", "y", "z")
    assert curve.tolist() == [0.0, 2.0, 0.0]
    assert sum(shares_at(rows["kind"], places)) == pytest.approx(1.0)


def test_a_column_that_is_mostly_zero_has_places_beyond_zero():
    values = pd.Series([0.0] * 190 + list(np.arange(1.0, 41.0)))

    places = places_of(values)

    assert places[0] == 0.0
    assert sum(place > 0 for place in places) >= 4


def test_missing_values_have_no_place_and_a_constant_column_no_curve():
    values = pd.Series([1.0, np.nan, 2.0, 3.0])
    X = pd.DataFrame({"a": values})

    assert places_of(values) == (1.0, 2.0, 3.0)
    assert places_of(pd.Series([4.0, np.nan, 4.0])) == ()
    assert effect_along(lambda part: column(part["a"]), X, "a", (1.0, 2.0, 3.0)).ravel().tolist() == [1.0, 2.0, 3.0]


def test_only_what_is_no_sum_is_an_interaction(rows):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(25, 3)), columns=["a", "b", "c"])

    found = interactions(lambda part: column(part["a"] * part["b"] + 5 * part["c"]), X, ["a", "b", "c"], lambda: False)

    assert (found[0].first, found[0].second) == ("a", "b")
    assert found[0].share > 0.5
    assert max(pair.size for pair in found[1:]) < 1e-9
    assert interactions(lambda part: column(part["a"]), X, ["a", "b"], lambda: True) == []


def test_rows_are_parted_by_thirds_or_levels(rows):
    numbers, levels = parts_by(rows["a"]), parts_by(rows["kind"])

    assert [name for name, _ in numbers] == ["low", "middling", "high"]
    assert [int(flags.sum()) for _, flags in numbers] == [100, 100, 100]
    assert [name for name, _ in levels] == ["x", "y", "z"]


def test_an_effect_knows_its_mean_and_spread():
    effect = ColumnEffect("a", (0.0, 1.0), ((1.0, 2.0), (3.0, 2.0)), (0.5, 0.5))

    assert effect.mean == (2.0, 2.0)
    assert effect.spread == pytest.approx((np.sqrt(2), 0.0))
    assert not effect.is_category
