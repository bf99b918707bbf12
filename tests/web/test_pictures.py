"""The pictures of the pages: right places, readable by screen readers, hostile names escaped."""

import re

from metaml.web.pictures import (
    BestSoFar,
    SettingAxis,
    curves_picture,
    cut,
    folds_picture,
    parallel_picture,
    setting_picture,
)
from tests.report.reading import read, words
from tests.web.samples import HOSTILE


def test_lines_of_parallel_coordinates_have_their_places_from_0_to_1():
    scales = [
        SettingAxis("rate", 0.01, 1.0, is_log=True),
        SettingAxis("mode", -0.5, 1.5, levels=["a", HOSTILE]),
        SettingAxis("score", 0, 10),
    ]

    page = parallel_picture(scales, [("k", [0.1, 1.0, 5.0], 0.0, "x"), ("l", [None, 0.0, 20.0], 1.0, "y")], title="t")

    assert re.findall(r'data-v="([^"]*)"', page) == ["0.5000,0.7500,0.5000", ",0.2500,1.0000"]
    assert "script" not in read(page).tags
    assert len(re.findall('role="slider"', page)) == 6
    assert 'aria-valuetext="0.01"' in page


def test_words_stand_in_columns_and_numbers_on_an_axis():
    words_page = setting_picture(
        [0.0, 1.0],
        [0.1, 0.2],
        SettingAxis("m", -0.5, 1.5, levels=["a", HOSTILE]),
        ["p", "q"],
        name="m",
        y_label="s",
        window=(0, 1),
    )
    axis = SettingAxis("r", 1, 100, is_log=True)
    numbers = setting_picture(
        [1.0, None, 100.0], [0.1, 0.2, 0.3], axis, ["p", "q", "r"], name="r", y_label="s", window=(0, 1)
    )

    assert "img" not in read(words_page).tags
    assert words_page.count("<circle") == numbers.count("<circle") == 2


def test_the_folds_of_runs_stand_beside_one_another_with_their_means():
    page = folds_picture([("one", [0.5, 0.7]), ("two", [float("nan"), 0.6])], y_label="score")

    assert page.count("<circle") == 3
    assert "one: mean 0.6" in words(page)
    assert "no score" in words(folds_picture([("x", [float("nan")])], y_label="s"))


def test_searches_are_steps_over_one_another():
    page = curves_picture([BestSoFar("a", [(1, 0.5), (3, 0.7)], 5), BestSoFar("b", [], 5)], x_label="x", y_label="y")

    assert page.count("<path") == 1
    assert "no score" in words(curves_picture([BestSoFar("b", [], 5)], x_label="x", y_label="y"))


def test_a_long_word_is_cut():
    assert [cut("abcdef", n) for n in (6, 4, 0)] == ["abcdef", "abc…", "a…"]


def test_words_beside_the_first_upright_axis_are_within_the_picture():
    scales = [SettingAxis("scaling", -0.5, 1.5, levels=["standard", "quantile_normal"]), SettingAxis("score", 0, 10)]

    page = parallel_picture(scales, [("k", [0.0, 1.0], 0.0, "x")], title="t")

    beside = re.findall(r'<text[^>]* x="([\d.]+)"[^>]*text-anchor="end"[^>]*>([^<]*)<', page)
    assert "standard" in [word for _, word in beside]
    assert all(float(x) - 7 * len(word) >= 0 for x, word in beside)
