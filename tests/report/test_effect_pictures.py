"""Pictures of effects hold what they show as text, too."""

from dataclasses import replace

import numpy as np

from metaml.report.effect_pictures import effect_picture
from tests.report.samples import readable

CURVE, LEVELS, PAIR = readable().model.effects


def test_a_curve_shows_its_points_and_where_the_rows_are():
    picture = effect_picture(CURVE, [], (-1.2, 1.2), "adds")

    assert picture.count("<circle") == 3
    assert picture.count('class="rows"') == 3
    assert "Effect of age" in picture


def test_levels_are_bars_that_say_their_value():
    picture = effect_picture(LEVELS, [], (-1.2, 1.2), "adds")

    assert "+0.4" in picture
    assert "−0.4" in picture


def test_rare_levels_are_counted_only():
    many = replace(LEVELS, points=(tuple(map(str, range(40))),), values=np.ones((40, 1)), share=np.full(40, 1 / 40))

    assert "26 rarer levels are not shown" in effect_picture(many, [], (-1.2, 1.2), "adds")


def test_a_pair_is_a_grid_with_a_row_for_missing_values():
    picture = effect_picture(PAIR, [], (-1.2, 1.2), "adds")

    assert picture.count("<td") == 1 + 6
    assert "(missing)" in picture
