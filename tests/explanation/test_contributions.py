"""Contributions can be added and stretched, and always sum to the prediction."""

import numpy as np
import pytest

from metaml.explanation.contributions import Contributions, weighted_sum


def some(seed, n_outputs=2):
    rng = np.random.default_rng(seed)
    return Contributions(rng.normal(size=n_outputs), rng.normal(size=(5, 3, n_outputs)))


def test_a_weighted_sum_leads_to_the_weighted_sum_of_the_predictions():
    one, other = some(0), some(1)

    found = weighted_sum([(one, 0.3), (other, 0.7)])

    assert found.total == pytest.approx(0.3 * one.total + 0.7 * other.total)


def test_stretched_contributions_reach_what_they_should():
    found, goal = some(0), np.random.default_rng(1).normal(size=(5, 2))

    stretched = found.reaching(np.array([3.0, -1.0]), goal)

    assert stretched.total == pytest.approx(goal, abs=1e-12)
    assert stretched.base.tolist() == [3.0, -1.0]


def test_a_way_of_no_length_does_not_make_contributions_explode():
    found = Contributions(np.zeros(1), np.array([[[1.0], [-1.0 + 1e-12]]]))

    stretched = found.reaching(np.zeros(1), np.array([[0.5]]))

    assert stretched.total == pytest.approx(0.5)
    assert np.abs(stretched.values).max() < 11
