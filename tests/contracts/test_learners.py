"""What every meta-learner must do, whatever it is made of."""

import numpy as np
import pytest

from metaml.metalearning.assessment.learners import LEARNERS
from tests.metalearning.worlds import make_synthetic

pytestmark = pytest.mark.parametrize("name", LEARNERS)
HISTORY = make_synthetic()
LIKE = HISTORY.metafeatures_of(3)


def test_it_gives_each_configuration_one_finite_number(name):
    ranked = LEARNERS[name](0).fit(HISTORY.without([3])).predict_rows(HISTORY.rows[:9], LIKE)

    assert ranked.shape == (9,)
    assert np.isfinite(ranked).all()


def test_equal_seeds_give_equal_numbers(name):
    first, second = (LEARNERS[name](5).fit(HISTORY).predict_rows(HISTORY.rows[:9], LIKE) for _ in range(2))

    assert np.array_equal(first, second)


def test_without_metafeatures_it_still_ranks(name):
    ranked = LEARNERS[name](0).fit(HISTORY).predict_rows(HISTORY.rows[:9], {})

    assert np.isfinite(ranked).all()
