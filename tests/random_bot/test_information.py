"""What a run would teach per second: unsure, new and quick ones most."""

import numpy as np
import pytest

from metaml.random_bot.information import InformationRate, novelty, odds


@pytest.fixture(scope="module")
def rate():
    """Scores that are certain where the first column is 0, and seconds that grow with the second."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, 400), rng.random(400)]).astype(float)
    scores = np.where(rows[:, 0] > 0, rng.normal(0, 1, 400), 0.5)
    return InformationRate().fit(rows, scores, 1 + 9 * rows[:, 1])


def test_where_scores_are_certain_little_is_taught(rate):
    certain, unsure = rate.predict(np.array([[0.0, 0.5], [1.0, 0.5]]), np.ones(2))

    assert certain < unsure / 3


def test_quick_and_new_runs_teach_more_per_second(rate):
    quick, slow, known = rate.predict(np.array([[1.0, 0.1], [1.0, 0.9], [1.0, 0.1]]), np.array([1.0, 1.0, 0.2]))

    assert quick > slow
    assert quick == pytest.approx(5 * known)


def test_the_nearest_run_decides_how_new_a_configuration_is():
    known = np.array([[0.0, 0.0], [1.0, np.nan]])

    assert novelty(np.array([0.0, 0.1]), known) == pytest.approx(0.05)
    assert novelty(np.array([1.0, np.nan]), known) == 0.0


def test_odds_are_those_of_random_draws_where_nothing_is_known():
    assert odds(np.zeros(3), 0.25).tolist() == [1.0, 1.0, 1.0]
    assert odds(np.array([1.0, 2.0, 3.0]), 0.25).mean() == pytest.approx(1.0)
