"""Columns that look like time or groups."""

import numpy as np
import pandas as pd

from metaml.data import ColumnOptions, from_frame

N = 120


def hints(options=None, **columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=N), **columns, "y": np.arange(N) % 2})
    return {(hint.kind, hint.column) for hint in from_frame(frame, "y", options=options or ColumnOptions()).hints}


def test_rows_in_the_order_of_a_date_look_like_time():
    days = pd.date_range("2020-01-01", periods=N)

    assert hints(day=days) == hints(day=days.strftime("%Y-%m-%d")) == hints(day=days[::-1]) == {("time", "day")}
    assert hints(year=np.repeat(np.arange(30), 4)) == {("time", "year")}


def test_dates_in_no_order_and_other_numbers_in_order_do_not():
    days = pd.date_range("2020-01-01", periods=N)

    assert hints(born=np.random.default_rng(0).permutation(days)) == set()
    assert hints(price=np.sort(np.random.default_rng(0).random(N))) == set()


def test_identifiers_that_repeat_look_like_groups():
    codes = np.arange(N) % 40

    assert hints(customer_id=codes) == {("group", "customer_id")}
    assert hints(patient=[f"p{code}" for code in codes]) == {("group", "patient")}
    assert hints(city=[f"c{code}" for code in codes]) == hints(customer_id=np.arange(N)) == set()


def test_what_was_said_is_not_said_again():
    days, codes = pd.date_range("2020-01-01", periods=N), np.arange(N) % 40

    assert hints(ColumnOptions(time="day"), day=days, user_id=codes) == {("group", "user_id")}
    assert hints(ColumnOptions(group="user_id"), day=days, user_id=codes) == {("time", "day")}


def test_a_hint_says_what_to_type():
    frame = pd.DataFrame({"x": range(N), "Order Date": pd.date_range("2020-01-01", periods=N), "y": np.arange(N) % 2})

    (hint,) = from_frame(frame, "y").hints

    assert str(hint).endswith("type --time 'Order Date'.")
