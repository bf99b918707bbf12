"""What each raw column is, what it becomes, and why some are not used.

A column of words is judged by these rules, the first that holds (shares are of its filled cells):

1. no word: constant. One word: constant, or 1/0 for "there or not" if cells are missing.
2. a pair such as true/false, yes/no, t/f, y/n in any case (0/1 too where the file declares categories):
   boolean.
3. numbers, with at most 5 % stray words: numeric, the stray words missing. If there are 10 different numbers
   at most, a stray word is another code and the column a category.
4. one date format, with at most 5 % stray words: date, expanded to days since 1970, year, month, weekday and
   hour, as far as they vary.
5. UUIDs, or 95 % of the cells different: an identifier, not used.
6. many different long strings (5 words or 40 characters on average): free text, not used.
7. anything else: category, however many levels it has.

A column that rules 5 and 6 would drop is numeric if half of its cells are numbers. A column of numbers is an
identifier if it counts the rows and is named so, or if its name says "id" and its values are whole and all
different.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Flags, Floats
from metaml.data.cells import (
    LARGEST,
    WordColumn,
    category_text,
    floats_of,
    holds_floats,
    is_absent,
    is_boolean,
    is_plain_number,
    numbers_of,
    without_extremes,
    words_of,
)
from metaml.data.columns import Column, Kind, Repair, with_noun
from metaml.data.dates import ENOUGH, DateColumn, find_dates, parts_that_vary
from metaml.data.names import names_an_identifier
from metaml.data.schema import Feature, moments_of
from metaml.data.task import FEW

_CHUNK = 256
_UUID = re.compile(r"\{?[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?")
_DIGIT = re.compile(r"\d")
_N_EXAMPLES = 3


@dataclass(frozen=True)
class InspectedColumn:
    """What was found about a raw column: its kind, its feature (None if it is not used) and its repairs."""

    column: Column
    feature: Feature | None
    repairs: tuple[Repair, ...] = ()


def numbers_rows(column: pd.Series) -> bool:
    """Return whether the column counts the rows, from 0 or from 1, in order."""
    if not is_plain_number(column.dtype):
        return False
    values = column.to_numpy(dtype=np.float64)
    return len(values) > 1 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1))


def inspect_columns(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[InspectedColumn]:
    """Yield what was found about each named column, in that order. The column names of the frame are distinct."""
    at = {name: place for place, name in enumerate(frame.columns)}
    places = [at[name] for name in names]
    dtypes = list(frame.dtypes)
    plain = [(place, name) for place, name in zip(places, names, strict=True) if is_plain_number(dtypes[place])]
    found: dict[str, InspectedColumn] = {}
    for start in range(0, len(plain), _CHUNK):
        chunk = plain[start : start + _CHUNK]
        block = frame.iloc[:, [place for place, _ in chunk]].to_numpy(dtype=np.float64)
        for finding in _inspect_numbers([name for _, name in chunk], block):
            found[finding.column.name] = finding
    for place, name in zip(places, names, strict=True):
        yield found[name] if name in found else inspect_column(frame.iloc[:, place], name)


def inspect_column(column: pd.Series, name: str) -> InspectedColumn:
    """Return what was found about one column."""
    if pd.api.types.is_bool_dtype(column.dtype) and holds_floats(column):
        finding = _inspect_numbers([name], floats_of(column)[:, None])[0]
        is_used = finding.column.kind == "numeric"
        return InspectedColumn(Column(name, "boolean"), Feature(name, "boolean", (name,))) if is_used else finding
    if holds_floats(column):
        return _inspect_numbers([name], floats_of(column)[:, None])[0]
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _inspect_moments(column, name)
    return _inspect_words(words_of(column), name, is_declared=isinstance(column.dtype, pd.CategoricalDtype))


def _inspect_numbers(names: list[str], block: Floats) -> list[InspectedColumn]:
    kept = without_extremes(block)
    is_there = ~np.isnan(kept)
    n_there = is_there.sum(axis=0)
    n_infinite = np.isinf(block).sum(axis=0)
    n_huge = (~np.isnan(block)).sum(axis=0) - n_there - n_infinite
    lowest = np.where(is_there, kept, np.inf).min(axis=0)
    highest = np.where(is_there, kept, -np.inf).max(axis=0)
    return [
        _number_finding(
            name,
            kept[:, place],
            n_there=int(n_there[place]),
            is_constant=bool(lowest[place] >= highest[place]),
            repairs=extreme_repairs(name, int(n_infinite[place]), int(n_huge[place])),
        )
        for place, name in enumerate(names)
    ]


def _number_finding(
    name: str, values: Floats, *, n_there: int, is_constant: bool, repairs: list[Repair]
) -> InspectedColumn:
    if is_constant:
        value = repr(float(values[~np.isnan(values)][0])) if n_there else ""
        return _constant(name, value.removesuffix(".0"), n_there, len(values), repairs)
    if names_an_identifier(name) and _are_different_integers(values):
        return _dropped(name, "text", "all its values are different whole numbers and its name says id", repairs)
    return InspectedColumn(Column(name, "numeric"), Feature(name, "number", (name,)), tuple(repairs))


def _are_different_integers(values: Floats) -> bool:
    there = values[~np.isnan(values)]
    return bool(np.all(there == np.floor(there))) and len(np.unique(there)) == len(there)


def extreme_repairs(name: str, n_infinite: int, n_huge: int) -> list[Repair]:
    """Return the repairs for infinite numbers and for numbers beyond 1e300 in a column."""
    repairs = []
    if n_infinite:
        repairs.append(Repair(name, f"{with_noun(n_infinite, 'cell')} made missing", "infinite"))
    if n_huge:
        repairs.append(
            Repair(name, f"{with_noun(n_huge, 'cell')} made missing", f"beyond ±{LARGEST:g}, a stand-in for missing")
        )
    return repairs


def _constant(name: str, value: str, n_there: int, n_rows: int, repairs: list[Repair]) -> InspectedColumn:
    if n_there == 0:
        return _dropped(name, "constant", "every cell is missing", repairs)
    if n_there == n_rows:
        return _dropped(name, "constant", f"the only value is {value}", repairs)
    repair = Repair(
        name, "read as 1 where filled, 0 where missing", f"the only value is {value}, in {with_noun(n_there, 'row')}"
    )
    return InspectedColumn(Column(name, "boolean"), Feature(name, "presence", (name,)), (*repairs, repair))


def _dropped(name: str, kind: Kind, why: str, repairs: list[Repair]) -> InspectedColumn:
    return InspectedColumn(Column(name, kind), None, (*repairs, Repair(name, "dropped", why)))


def _inspect_moments(column: pd.Series, name: str) -> InspectedColumn:
    moments = moments_of(column)
    parts = parts_that_vary(moments)
    if not parts:
        there = moments.dropna()
        return _constant(name, str(there[0]) if len(there) else "", len(there), len(moments), [])
    return _date_finding(name, DateColumn("ISO8601", parts, n_stray=0), [])


def _date_finding(name: str, dates: DateColumn, repairs: list[Repair]) -> InspectedColumn:
    outputs = tuple(f"{name}_{part}" for part in dates.parts)
    feature = Feature(name, "date", outputs, format=dates.format, parts=dates.parts)
    spelled = "ISO 8601" if dates.format == "ISO8601" else dates.format
    repair = Repair(name, f"replaced by {', '.join(outputs)}", f"it holds dates, read as {spelled}")
    return InspectedColumn(Column(name, "date"), feature, (*repairs, repair))


def _inspect_words(words: WordColumn, name: str, *, is_declared: bool) -> InspectedColumn:
    counts = words.counts()
    n_there = int(counts.sum())
    if len(words.words) <= 1:
        return _constant(name, repr(words.words[0]) if words.words else "", n_there, len(words.codes), [])
    if is_boolean(words.words) or (is_declared and set(words.words) == {"0", "1"}):
        return InspectedColumn(Column(name, "boolean"), Feature(name, "boolean", (name,)))

    may_be_numbers = not is_declared and any(map(_DIGIT.search, words.words))
    numbers = numbers_of(words.words) if may_be_numbers else np.array([])
    if may_be_numbers:
        if finding := _as_numbers(words, name, numbers, counts, allowed=1 - ENOUGH):
            return finding
        if finding := _as_dates(words, name, counts):
            return finding
    if why := _why_unusable(words.words, counts, n_there):
        half = _as_numbers(words, name, numbers, counts, allowed=0.5) if may_be_numbers else None
        return half or _dropped(name, "text", why, [])
    categories = tuple(sorted({category_text(word) for word in words.words}))
    return InspectedColumn(Column(name, "category"), Feature(name, "category", (name,), categories))


def _as_numbers(
    words: WordColumn, name: str, numbers: Floats, counts: npt.NDArray[np.intp], *, allowed: float
) -> InspectedColumn | None:
    is_word = np.isnan(numbers)
    is_gap = np.array([bool(lost) and is_absent(word) for word, lost in zip(words.words, is_word, strict=True)])
    is_stray = is_word & ~is_gap
    n_stray, n_numbers = int(counts[is_stray].sum()), int(counts[~is_word].sum())
    kept = without_extremes(numbers)
    n_distinct = len(np.unique(kept[~np.isnan(kept)]))
    if n_distinct < 2 or n_stray > allowed * (n_stray + n_numbers) or (n_stray and n_distinct <= FEW):
        return None
    infinite = np.isinf(numbers)
    huge = ~is_word & ~infinite & np.isnan(kept)
    repairs = _stray_repairs(words, name, counts, is_word, "numbers")
    repairs += extreme_repairs(name, int(counts[infinite].sum()), int(counts[huge].sum()))
    values = words.take(kept)
    return _number_finding(name, values, n_there=int((~np.isnan(values)).sum()), is_constant=False, repairs=repairs)


def _as_dates(words: WordColumn, name: str, counts: npt.NDArray[np.intp]) -> InspectedColumn | None:
    is_gap = np.array([is_absent(word) for word in words.words])
    moves = np.append(np.where(is_gap, -1, np.cumsum(~is_gap) - 1), -1)
    there = [word for word, gap in zip(words.words, is_gap, strict=True) if not gap]
    dates = find_dates(WordColumn(moves[words.codes], there))
    if dates is None:
        return None
    repairs = _stray_repairs(words, name, counts, is_gap, "dates")
    if dates.n_stray:
        repairs.append(
            Repair(name, f"{with_noun(dates.n_stray, 'cell')} made missing", f"not of the form {dates.format}")
        )
    return _date_finding(name, dates, repairs)


def _stray_repairs(
    words: WordColumn, name: str, counts: npt.NDArray[np.intp], is_lost: Flags, others: str
) -> list[Repair]:
    n_lost = int(counts[is_lost].sum())
    if n_lost == 0:
        return []
    lost = [word for word, gone in zip(words.words, is_lost, strict=True) if gone]
    examples = ", ".join(repr(word) for word in lost[:_N_EXAMPLES]) + (" ..." if len(lost) > _N_EXAMPLES else "")
    return [Repair(name, f"{with_noun(n_lost, 'cell')} made missing: {examples}", f"the other cells are {others}")]


def _why_unusable(words: list[str], counts: npt.NDArray[np.intp], n_there: int) -> str | None:
    n_distinct = len(words)
    if _UUID.fullmatch(words[0]) and _UUID.fullmatch(words[-1]) and n_distinct > 0.5 * n_there:
        return f"it holds UUIDs, {n_distinct} different ones in {n_there} filled cells"
    if n_distinct >= ENOUGH * n_there:
        return f"it names the rows: {n_distinct} different words in {n_there} filled cells"
    if n_distinct <= max(20, 0.2 * n_there):
        return None
    n_words = np.array([word.count(" ") + 1 for word in words])
    lengths = np.array([len(word) for word in words])
    if (counts @ n_words) >= 5 * n_there or (counts @ lengths) >= 40 * n_there:
        return f"it is free text: {n_distinct} different long strings in {n_there} filled cells"
    return None
