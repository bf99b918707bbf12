"""Dates and times written as text: the format of a column, and the parts that vary."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from metaml.data import Dataset, from_frame
from metaml.data.cells import words_of
from metaml.data.dates import DateColumn, find_dates, parse_dates, part_of

N_ROWS = 60


def prepared(values: Any) -> Dataset:
    return from_frame(pd.DataFrame({"it": values, "y": ["p", "q"] * (N_ROWS // 2)}))


def dates_in(words: list[str]) -> DateColumn | None:
    return find_dates(words_of(pd.Series(words)))


def test_dates_become_the_parts_that_vary() -> None:
    moments = pd.date_range("1970-01-01 06:00", periods=N_ROWS, freq="36h")

    X = prepared(moments.astype(str)).X

    assert X["it_days"].tolist()[:2] == [0.25, 1.75]
    assert X["it_hour"].tolist()[:2] == [6.0, 18.0]
    assert X["it_weekday"].tolist()[:2] == [3.0, 4.0]
    assert X["it_month"].tolist()[-1] == 3.0
    assert "it_year" not in X


def test_the_whole_column_decides_which_is_day_and_which_is_month() -> None:
    days_first = prepared([f"{row % 28 + 1:02}/{row % 12 + 1:02}/2020" for row in range(N_ROWS)])
    months_first = prepared([f"{row % 12 + 1:02}/{row % 28 + 1:02}/2020" for row in range(N_ROWS)])

    assert days_first.X["it_month"].tolist() == months_first.X["it_month"].tolist()


@pytest.mark.parametrize(
    ("words", "format"),
    [
        (["2020-01-31", "2021-02-01"], "%Y-%m-%d"),
        (["31.01.2020", "1.2.2021"], "%d.%m.%Y"),
        (["03/04/2020", "05/06/2021"], "%m/%d/%Y"),
        (["03/04/2020", "25/06/2021"], "%d/%m/%Y"),
        (["2020-01-31T10:00:00+02:00", "2020-01-31T11:30:00Z"], "ISO8601"),
        (["January 5, 2020", "March 7, 2021"], "%B %d, %Y"),
        (["10:30", "23:59"], "%H:%M"),
    ],
)
def test_the_format_that_reads_most_cells_is_the_one(words: list[str], format: str) -> None:
    found = dates_in(words)

    assert found is not None
    assert found.format == format


def test_up_to_one_word_in_twenty_may_be_no_date() -> None:
    days = [f"2020-01-{day:02}" for day in range(1, 20)]

    found = dates_in([*days, "soon"])

    assert found is not None
    assert found.n_stray == 1
    assert dates_in([*days[:18], "soon", "later"]) is None


def test_words_dates_that_are_all_the_same_and_impossible_years_are_no_dates() -> None:
    assert dates_in(["red", "blue"]) is None
    assert dates_in(["2020-01-01"] * 3) is None
    assert dates_in(["9999-01-01", "9999-01-02"]) is None


def test_a_time_of_day_has_an_hour_with_its_fraction() -> None:
    moments = parse_dates(["6:30", "nonsense"], "%H:%M")

    hours = part_of(moments, "hour")

    assert hours[0] == 6.5
    assert np.isnan(hours[1])
