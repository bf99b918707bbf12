import math

from metaml.insight import varying_settings
from metaml.insight.settings import Setting
from metaml.spaces import Float, Space


def test_a_hyperparameter_that_never_varies_is_left_out():
    assert varying_settings([{"a": 1}, {"a": 1}]) == ()


def test_the_scale_of_the_space_is_kept_and_its_range_is_widened():
    space = Space([Float("rate", 0.01, 0.5, default=0.1, log=True)])

    (rate,) = varying_settings([{"rate": 0.001}, {"rate": 0.1}], [space])

    assert (rate.low, rate.high, rate.is_log) == (0.001, 0.5, True)


def test_without_a_space_numbers_over_many_decades_are_logarithmic():
    found = {item.name: item for item in varying_settings([{"C": 1e-3, "p": 1}, {"C": 1e3, "p": 2}])}

    assert found["C"].is_log
    assert not found["p"].is_log
    assert found["p"].is_whole


def test_true_one_and_one_point_zero_are_three_choices():
    (mixed,) = varying_settings([{"x": True}, {"x": 1}, {"x": "1"}])

    assert sorted(mixed.units([True, 1, "1"]).tolist()) == [0, 1, 2]
    assert math.isnan(mixed.units([2])[0])


def test_many_values_become_four_ranges():
    names, levels = Setting("rate", low=0.01, high=1.0, is_log=True).levels([0.01 * 1.1**k for k in range(40)])

    assert names == ["0.01 to 0.032", "0.032 to 0.1", "0.1 to 0.32", "0.32 to 1"]
    assert set(levels.tolist()) == {0.0, 1.0, 2.0, 3.0}
