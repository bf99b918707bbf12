"""Dates and times written as text: which format a column uses, and the numbers a date is turned into."""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from metaml.arrays import Floats
from metaml.data.cells import WordColumn

Part = Literal["days", "year", "month", "weekday", "hour"]
"""Days since 1970-01-01 with fraction, year, month 1-12, weekday 0 = Monday, hour with fraction."""

PARTS: tuple[Part, ...] = ("days", "year", "month", "weekday", "hour")

ENOUGH = 0.95
"""The share of a column's values that must fit before the others count as stray."""

_TIMES = (("", ""), (r" \d{1,2}:\d{2}", "%H:%M"), (r" \d{1,2}:\d{2}:\d{2}", "%H:%M:%S"))
# Where two formats fit the same text (03/04/2020) the one listed first wins a draw.
_DAYS = (
    (r"\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d"),
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", "%Y.%m.%d"),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", "%d.%m.%y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%m-%d-%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%m/%d/%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y"),
    (r"\d{1,2}/\d{1,2}/\d{2}", "%m/%d/%y"),
    (r"\d{1,2}/\d{1,2}/\d{2}", "%d/%m/%y"),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", "%d %b %Y"),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", "%d-%b-%Y"),
    (r"\d{1,2}-[A-Za-z]{3}-\d{2}", "%d-%b-%y"),
    (r"[A-Za-z]{3} \d{1,2}, \d{4}", "%b %d, %Y"),
    (r"\d{1,2} [A-Za-z]{4,9} \d{4}", "%d %B %Y"),
    (r"[A-Za-z]{4,9} \d{1,2}, \d{4}", "%B %d, %Y"),
)
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?")
_FORMATS: tuple[tuple[re.Pattern[str], str], ...] = (
    (_ISO, "ISO8601"),
    (re.compile(r"\d{4}-\d{2}"), "%Y-%m"),
    (re.compile(r"\d{1,2}:\d{2}"), "%H:%M"),
    (re.compile(r"\d{1,2}:\d{2}:\d{2}"), "%H:%M:%S"),
    *(
        (re.compile(day + time), day_format + (f" {time_format}" if time_format else ""))
        for time, time_format in _TIMES
        for day, day_format in _DAYS
    ),
)
_CLOCK = frozenset(["%H:%M", "%H:%M:%S"])
_YEARS = (1600, 2300)


@dataclass(frozen=True)
class DateColumn:
    """How to read a column of dates: its format and the parts that vary."""

    format: str
    parts: tuple[Part, ...]
    n_stray: int


def find_dates(words: WordColumn) -> DateColumn | None:
    """Return how to read the words as dates, or None if fewer than 95 % of the cells fit one format."""
    sample = words.words[:50]
    candidates = [
        format
        for pattern, format in _FORMATS
        if sum(pattern.fullmatch(word) is not None for word in sample) >= 0.5 * len(sample) > 0
    ]
    counts = words.counts()
    best: tuple[int, str, pd.DatetimeIndex] | None = None
    for format in candidates:
        moments = parse_dates(words.words, format)
        n_read = int(counts[moments.notna()].sum())
        if best is None or n_read > best[0]:
            best = (n_read, format, moments)
    n_values = int(counts.sum())
    if best is None or best[0] < ENOUGH * n_values:
        return None
    n_read, format, moments = best
    parts = parts_that_vary(moments, is_clock=format in _CLOCK)
    return DateColumn(format, parts, n_values - n_read) if parts else None


def parse_dates(words: list[str], format: str) -> pd.DatetimeIndex:
    """Return the moments the words name, in UTC, NaT where a word does not fit the format."""
    moments = pd.DatetimeIndex(pd.to_datetime(words, format=format, errors="coerce", utc=True)).tz_localize(None)
    if format in _CLOCK:
        return moments
    return pd.DatetimeIndex(moments.where((moments.year >= _YEARS[0]) & (moments.year <= _YEARS[1])))


def parts_that_vary(moments: pd.DatetimeIndex, *, is_clock: bool = False) -> tuple[Part, ...]:
    """Return the parts in which the moments differ; a time of day without a date has only its hour."""
    considered: tuple[Part, ...] = ("hour",) if is_clock else PARTS
    return tuple(part for part in considered if len(np.unique(part_of(moments.dropna(), part))) > 1)


def part_of(moments: pd.DatetimeIndex, part: Part) -> Floats:
    """Return one part of each moment as a number, NaN where there is no moment."""
    values: pd.Index[Any]
    match part:
        case "days":
            values = (moments - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        case "hour":
            values = (moments - moments.normalize()) / pd.Timedelta(hours=1)
        case "year":
            values = moments.year
        case "month":
            values = moments.month
        case "weekday":
            values = moments.day_of_week
    return np.asarray(values, dtype=np.float64)
