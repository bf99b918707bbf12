"""Limits of a model: which are broken, by how much, and what to raise to what."""

import pytest

from metaml.errors import BadRequest
from metaml.evaluation.model_limits import NO_LIMITS, Measured, ModelLimits

MEASURED = Measured(predict_ms=3.0, predict_ms_1000=20.0, megabytes=5.0, n_columns=8)


def test_the_excess_is_the_largest_ratio():
    assert ModelLimits(predict_ms=6.0, megabytes=4.0).excess(MEASURED) == 1.25


def test_without_limits_nothing_is_broken_or_measured():
    assert NO_LIMITS.excess(MEASURED) == 0
    assert not NO_LIMITS.is_any
    assert not ModelLimits(n_columns=3).needs_measuring
    assert ModelLimits(predict_ms_1000=3.0).needs_measuring


def test_an_impossible_limit_names_the_nearest_and_what_to_raise():
    said = ModelLimits(predict_ms=1.0, megabytes=10.0).impossible(MEASURED)

    assert said == (
        "No model keeps these limits on this machine: the nearest one takes 3 ms for one row. "
        "Raise --max-predict-ms to 3.3."
    )


@pytest.mark.parametrize("limits", [{"predict_ms": 0.0}, {"megabytes": float("nan")}, {"n_columns": -1}])
def test_a_limit_must_be_above_zero(limits):
    with pytest.raises(BadRequest, match="above 0"):
        ModelLimits(**limits)
