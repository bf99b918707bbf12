"""What one cell says: missing, a number, a yes or no, or a word."""

import numpy as np
import pandas as pd
import pytest

from metaml.data.cells import (
    booleans_of,
    category_text,
    floats_of,
    holds_floats,
    is_absent,
    is_boolean,
    number_of,
    without_extremes,
    words_of,
)


@pytest.mark.parametrize("word", ["", "?", "NA", "n/a", "NaN", "null", "#DIV/0!", "  NA "])
def test_a_word_for_no_value_is_missing_in_any_column(word: str) -> None:
    words = words_of(pd.Series(["red", word, "red"]))

    assert words.codes.tolist() == [0, -1, 0]
    assert words.words == ["red"]


def test_none_is_a_category_among_words_and_absent_among_numbers() -> None:
    assert words_of(pd.Series(["None", "Partial"])).words == ["None", "Partial"]
    assert is_absent("None")
    assert is_absent("-")
    assert not is_absent("red")


def test_spellings_of_a_word_that_differ_in_blanks_are_one_word() -> None:
    words = words_of(pd.Series([" red", "red ", "blue"]))

    assert words.words == ["red", "blue"]
    assert words.counts().tolist() == [2, 1]
    assert words.take(np.array([1.0, 2.0])).tolist() == [1.0, 1.0, 2.0]


def test_categories_that_no_row_has_are_no_words() -> None:
    column = pd.Series(pd.Categorical(["a"], categories=["a", "b"]))

    assert words_of(column).words == ["a"]


def test_lists_are_told_apart_by_their_text() -> None:
    assert words_of(pd.Series([[1, 2], [3], [1, 2]])).codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("word", "number"),
    [("1e3", 1000.0), ("-.5", -0.5), ("$1,234.50", 1234.5), ("€ 7", 7.0), ("30%", 30.0), ("-inf", -np.inf)],
)
def test_a_number_may_be_decorated(word: str, number: float) -> None:
    assert number_of(word) == number


@pytest.mark.parametrize("word", ["red", "1,23", "1.2.3", "0,123", "12a"])
def test_what_only_looks_like_a_number_is_none(word: str) -> None:
    assert np.isnan(number_of(word))


def test_a_code_is_the_same_category_however_it_is_spelled() -> None:
    assert {category_text(word) for word in ("1", "1.0", "01", "1e0")} == {"1"}
    assert category_text("-0") == category_text("0")
    assert category_text("1234567890123456789") == "1234567890123456789"


def test_truth_values_come_in_pairs() -> None:
    assert is_boolean(["Yes", "NO", "no"])
    assert not is_boolean(["yes", "maybe"])
    assert booleans_of(["Yes", "f", "1", "maybe"]).tolist()[:3] == [1.0, 0.0, 1.0]
    assert np.isnan(booleans_of(["maybe"])[0])


def test_durations_are_seconds_and_a_gap_is_missing() -> None:
    durations = pd.Series(pd.to_timedelta([1, None], unit="min"))
    integers = pd.Series(pd.array([1, None], dtype="Int64"))

    assert floats_of(durations)[0] == 60.0
    assert np.isnan(floats_of(integers)[1])
    assert holds_floats(durations)
    assert not holds_floats(pd.Series(pd.Categorical([1, 2])))


def test_numbers_that_stand_for_missing_are_made_missing() -> None:
    assert np.isnan(without_extremes(np.array([1.0, np.inf, -1e308, np.nan]))).tolist() == [False, True, True, True]
