"""The live line fits its terminal."""

from metaml_cli.live import fitted

LINE = "4 min 59 s of 5 min   120 runs   best balanced accuracy 0.8123 (gradient_boosting)   until 12:00:00"


def test_a_line_that_fits_stays_as_it_is():
    assert fitted(LINE, 120) == LINE


def test_a_line_that_is_too_long_loses_whole_parts():
    assert fitted(LINE, 85) == LINE.removesuffix("   until 12:00:00")
    assert fitted(LINE, 79) == "4 min 59 s of 5 min   120 runs   until 12:00:00"


def test_a_first_part_that_is_too_long_is_cut():
    assert fitted(LINE, 5) == "4 min"
