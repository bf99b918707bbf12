"""Data sets weighted by how well they rank what was evaluated here."""

import numpy as np
import pytest

from metaml.metalearning.assessment.rgpe import RankWeighted, rank_weights
from metaml.metalearning.rank_correlation import kendall

ROWS = np.linspace(0, 1, 30)[:, np.newaxis]
RISING, FALLING, HUMP = ROWS[:, 0], -ROWS[:, 0], -((ROWS[:, 0] - 0.5) ** 2)
LEVELS = np.stack([(level - level.mean()) / level.std() for level in (RISING, FALLING, HUMP)])


def test_the_data_set_that_ranks_correctly_has_the_largest_weight():
    seen = np.array([2, 9, 17, 28])

    weights = rank_weights(LEVELS[:, seen], HUMP[seen], np.random.default_rng(0))

    assert int(np.argmax(weights)) == 2
    assert weights.sum() == pytest.approx(1.0)


def test_scores_that_all_tie_leave_all_weights_equal():
    weights = rank_weights(LEVELS[:, :4], np.ones(4), np.random.default_rng(0))

    assert weights == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def test_a_few_evaluations_find_the_order_of_the_others():
    seen = np.array([2, 9, 17, 28])
    model = RankWeighted().fit(LEVELS[:, seen], ROWS[seen], 0.8 + 0.1 * HUMP[seen])

    mean, std, improvement = model.predict(LEVELS, ROWS)

    assert kendall(mean, HUMP) > 0.8
    assert (std > 0).all()
    assert (improvement >= 0).all()


def test_one_evaluation_is_enough_to_predict():
    model = RankWeighted().fit(LEVELS[:, :1], ROWS[:1], np.array([0.7]))

    mean, _, _ = model.predict(LEVELS, ROWS)

    assert np.isfinite(mean).all()
