"""Means, ratios and paired differences, by hand."""

import pytest

from metaml.laboratory.result_table import Estimate, level, mean_estimate, paired_difference, ratio


def test_a_level_has_the_error_of_a_mean():
    assert level({"a": 1.0, "b": 3.0}) == Estimate(2.0, 1.0)


def test_differences_are_paired_on_shared_data_sets():
    estimate = paired_difference({"a": 1.0, "b": 3.0, "c": 9.0}, {"a": 0.0, "b": 0.0})

    assert estimate == Estimate(2.0, 1.0)


def test_a_ratio_is_that_of_the_means():
    assert ratio({"a": 1.0, "b": 3.0}, {"a": 4.0, "b": 4.0}) == 0.5


def test_the_mean_of_estimates_shrinks_their_error():
    assert mean_estimate([Estimate(1.0, 3.0), Estimate(3.0, 4.0)]) == Estimate(2.0, pytest.approx(2.5))
