"""What every registered surrogate must do, whatever it is made of."""

import numpy as np
import pytest

from metaml.acquisition import ACQUISITIONS
from metaml.search.strategy import STRATEGIES
from metaml.surrogates import SURROGATES

rng = np.random.default_rng(0)
ROWS = rng.random((12, 3))
SCORES = np.sin(3 * ROWS[:, 0]) + 0.3 * ROWS[:, 1]
OTHERS = rng.random((20, 3))

pytestmark = pytest.mark.parametrize("name", SURROGATES)


def test_its_acquisition_exists_and_makes_it_a_strategy(name):
    acquisition = SURROGATES[name].acquisition

    assert acquisition in {"", *ACQUISITIONS}
    assert (name in STRATEGIES) == bool(acquisition)


def assert_complete(prediction, n):
    for part in (prediction.mean, prediction.std, prediction.upper):
        assert part.shape == (n,)
        assert np.isfinite(part).all()
    assert (prediction.std >= 0).all()
    assert (prediction.upper >= prediction.mean - 1e-12).all()


def test_it_fills_mean_std_and_upper(name):
    surrogate = SURROGATES[name](1).fit(ROWS, SCORES)

    assert_complete(surrogate.predict(OTHERS), 20)


def test_equal_seeds_give_equal_predictions(name):
    first, second = (SURROGATES[name](7).fit(ROWS, SCORES).predict(OTHERS) for _ in range(2))

    assert np.array_equal(first.upper, second.upper)
    assert np.array_equal(first.mean, second.mean)


def test_fitting_again_forgets_what_was_learnt_before(name):
    used = SURROGATES[name](7).fit(OTHERS, -OTHERS.sum(axis=1)).fit(ROWS, SCORES)
    fresh = SURROGATES[name](7).fit(ROWS, SCORES)

    assert np.array_equal(used.predict(OTHERS).upper, fresh.predict(OTHERS).upper)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows_are_enough(name, n):
    surrogate = SURROGATES[name](1).fit(ROWS[:n], SCORES[:n])

    assert_complete(surrogate.predict(OTHERS), 20)


def test_equal_scores_can_be_learnt(name):
    surrogate = SURROGATES[name](1).fit(ROWS, np.full(12, 0.7))

    assert_complete(surrogate.predict(OTHERS), 20)


def test_missing_values_are_inactive_parameters(name):
    rows, others = ROWS.copy(), OTHERS.copy()
    rows[::2, 1], others[::3, 1], rows[:, 2] = np.nan, np.nan, np.nan

    surrogate = SURROGATES[name](1).fit(rows, SCORES)

    assert_complete(surrogate.predict(others), 20)


def test_one_column_is_enough(name):
    surrogate = SURROGATES[name](1).fit(ROWS[:, :1], SCORES)

    assert_complete(surrogate.predict(OTHERS[:, :1]), 20)


def test_the_scale_of_the_scores_keeps_their_order(name):
    scaled = SURROGATES[name](1).scaled(SCORES)

    assert np.array_equal(np.argsort(scaled, kind="stable"), np.argsort(SCORES, kind="stable"))


def test_scores_that_differ_in_the_sixth_digit_are_told_apart(name):
    if name == "constant":
        return
    rows = np.random.default_rng(3).random((40, 3))
    close = 0.9 + 1e-6 * rows[:, 0]

    believed = SURROGATES[name](1).fit(rows, close).predict(rows)

    assert np.ptp(believed.upper) > 0
