"""The points of a score card add up to nearly the score of the model."""

import numpy as np
import pandas as pd
import pytest

from metaml.explanation.readable import ReadableEffect, ReadableModel
from metaml.explanation.score_card import score_card, totals


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.uniform(0, 10, 200), "kind": pd.Categorical(rng.choice(["a", "b"], 200))})
    frame.loc[::7, "size"] = np.nan
    return frame


@pytest.fixture
def model():
    points = tuple(np.linspace(0, 10, 41).tolist())
    jump = np.where(np.array(points) <= 4, -1.0, 2.0)[:, None]
    size = ReadableEffect(("size",), (points,), jump, np.array([0.5]), np.full(41, 1 / 41), 1.0, (True,))
    kind = ReadableEffect(("kind",), (("a", "b"),), np.array([[0.0], [1.0]]), None, np.array([0.5, 0.5]), 0.5, (False,))
    return ReadableModel("additive", np.array([0.3]), (size, kind), None, 2)


def test_a_curve_with_one_jump_becomes_two_ranges(model, rows):
    card = score_card(model, rows, are_classes=True)

    assert card.parts[0].ranges == (("up to 4", "over 4"),)
    assert (card.parts[0].points >= 0).all()
    assert (card.parts[0].points.min(), card.parts[1].points.min()) == (0, 0)


def test_the_sum_of_points_is_the_score_of_the_model(model, rows):
    card = score_card(model, rows, are_classes=True)

    apart = np.abs(totals(card, rows) * card.unit - model.scores(rows))

    assert np.median(apart) < 2 * card.unit
    assert card.apart == pytest.approx(apart.mean())


def test_ten_points_double_the_odds(model, rows):
    assert np.exp(10 * score_card(model, rows, are_classes=True).unit) == pytest.approx(2)


def test_a_pair_has_points_for_each_combination(rows):
    values = np.array([[[0.0], [1.0], [5.0]], [[2.0], [0.0], [5.0]]])
    pair = ReadableEffect(
        ("kind", "size"), (("a", "b"), (2.0, 8.0, None)), values, None, np.full((2, 3), 1 / 6), 1, (False, True)
    )
    model = ReadableModel("additive", np.array([0.0]), (pair,), None, 2)

    card = score_card(model, rows, are_classes=False)

    assert card.parts[0].ranges == (("a", "b"), ("2", "8", "missing"))
    assert np.allclose(totals(card, rows) * card.unit, model.scores(rows))
