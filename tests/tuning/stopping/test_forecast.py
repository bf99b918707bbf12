"""The forecast shrinks as a search comes to its end, and says when chance is larger than the gain."""

import numpy as np
import pytest

from metaml.tuning.stopping.forecast import Forecast, forecast
from metaml.tuning.stopping.progress import advice

FOLDS = (0.90, 0.91, 0.92)


def test_few_evaluations_and_no_time_left_say_nothing():
    assert forecast([0.5] * 7, FOLDS, 10) is None
    assert forecast([0.5] * 20, FOLDS, 0) is None
    assert advice(None) == ""


def test_a_search_that_no_longer_improves_expects_less_and_at_last_nothing():
    early = forecast([0.5, 0.6, 0.7, 0.8, 0.82, 0.85, 0.88, 0.9], FOLDS, 8)
    late = forecast([0.5, 0.6, 0.7, 0.9, 0.8, 0.85, 0.82, 0.88], FOLDS, 8)
    end = forecast([0.5, 0.6, 0.7, 0.9, 0.9, 0.9, 0.9, 0.9], FOLDS, 8)

    assert early.gain > late.gain > end.gain == 0.0
    assert not end.is_worth_it
    assert "hardly worth it" in advice(end)


@pytest.mark.parametrize("n_more", [20, 80])
def test_independent_draws_gain_about_what_is_forecast(n_more):
    rng = np.random.default_rng(0)
    draws = rng.exponential(size=(2000, 40 + n_more))

    gains = draws.max(axis=1) - draws[:, :40].max(axis=1)
    forecasts = [forecast(row[:40], FOLDS, n_more).gain for row in draws]

    assert np.mean(forecasts) == pytest.approx(gains.mean(), rel=0.15)


def test_a_gain_above_the_standard_error_is_worth_it():
    assert Forecast(gain=0.02, error=0.01, n_more=5).is_worth_it
    assert Forecast(gain=0.02, error=float("nan"), n_more=5).is_worth_it
    assert "should gain about 0.0200 (standard error 0.0100)" in advice(Forecast(0.02, 0.01, 5))
