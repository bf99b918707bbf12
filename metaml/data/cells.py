"""What one cell says: missing, a number, a yes or no, or a word.

The rule for missing cells, the same for every file format: an empty cell and the words of `MISSING_WORDS` are
missing everywhere. The words of `ABSENT_WORDS` ("None", "-", ".", "unknown" ...) are missing only in a column
whose other cells are numbers or dates; in a column of words they are a category, as in "None, Partial, Full".
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Floats

Codes = npt.NDArray[np.intp]

_MISSING = "? NA N/A n/a na nan NaN NAN -nan -NaN NaT null NULL Null <NA> #N/A #NA"
_SPREADSHEET_ERRORS = "#VALUE! #DIV/0! #REF! #NUM! 1.#QNAN -1.#IND 1.#IND"
MISSING_WORDS = frozenset(["", *_MISSING.split(), *_SPREADSHEET_ERRORS.split()])
ABSENT_WORDS = frozenset(["none", "-", "--", "---", ".", "..", "missing", "unknown", "not available", "*"])

LARGEST = 1e300
"""Numbers beyond this size stand for "missing" (the largest double is 1.8e308) and overflow when squared."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_DECORATED = re.compile(r"([+-]?)[$€£¥]? ?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d+)? ?%?")
_TRUE = frozenset(["true", "yes", "t", "y", "1"])
_FALSE = frozenset(["false", "no", "f", "n", "0"])
_BOOLEAN_PAIRS = (frozenset(["true", "false"]), frozenset(["yes", "no"]), frozenset("tf"), frozenset("yn"))


@dataclass(frozen=True)
class WordColumn:
    """A column as text: the distinct words, and for each row the position of its word (-1 = missing)."""

    codes: Codes
    words: list[str]

    def counts(self) -> npt.NDArray[np.intp]:
        """Return how many rows hold each word."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))

    def take(self, values: Floats) -> Floats:
        """Return the value of each row's word, NaN where the row is missing."""
        return np.append(values, np.nan)[self.codes]


def is_plain_number(dtype: object) -> bool:
    """Return whether a column of this type is stored as NumPy integers or floats."""
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf"


def holds_floats(column: pd.Series) -> bool:
    """Return whether `floats_of` can read the column: it is stored as numbers, truth values or durations."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype) or pd.api.types.is_complex_dtype(dtype):
        return False
    return bool(pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype))


def floats_of(column: pd.Series) -> Floats:
    """Return a column of numbers, truth values or durations (in seconds) as floats, NaN where missing."""
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        column = column.dt.total_seconds()
    values: Floats = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def words_of(column: pd.Series) -> WordColumn:
    """Return the column as stripped text in which every spelling of "missing" is missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes: Codes = column.cat.codes.to_numpy().astype(np.intp)
        levels: list[Any] = column.cat.categories.tolist()
    else:
        try:
            found, uniques = pd.factorize(column)
        except TypeError:  # lists and dicts cannot be hashed; their text can
            found, uniques = pd.factorize(column.map(str, na_action="ignore"))
        codes, levels = np.asarray(found, dtype=np.intp), list(uniques)
    return _merged(codes, [text_of(level) for level in levels])


def _merged(codes: Codes, texts: list[str]) -> WordColumn:
    places: dict[str, int] = {}
    moves = np.empty(len(texts) + 1, dtype=np.intp)
    moves[-1] = -1
    used = np.bincount(codes[codes >= 0], minlength=len(texts)) > 0
    for position, text in enumerate(texts):
        moves[position] = -1 if text in MISSING_WORDS or not used[position] else places.setdefault(text, len(places))
    return WordColumn(moves[codes], list(places))


def text_of(value: object) -> str:
    """Return the text of one value; whole floats are written as integers.

    >>> text_of(2.0), text_of(" red "), text_of(True)
    ('2', 'red', 'True')
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return str(value)


def category_text(word: str) -> str:
    """Return the name of a category: a word that is a number gets that number's shortest spelling.

    So "1", "1.0" and "01" are one category, whether a file's column was read as text, integers or floats.

    >>> category_text("1.0"), category_text("01"), category_text("1.50"), category_text("blue")
    ('1', '1', '1.5', 'blue')
    """
    if len(word) <= 15 and _NUMBER.fullmatch(word):
        return text_of(float(word) + 0.0)
    return word


def number_of(word: str) -> float:
    """Return the number a word spells, NaN if none; thousands commas, currency signs and % are understood.

    >>> number_of("1,234.5"), number_of("$12"), number_of("30 %"), number_of("blue")
    (1234.5, 12.0, 30.0, nan)
    """
    if _NUMBER.fullmatch(word) or _INFINITE.fullmatch(word):
        return float(word)
    if match := _DECORATED.fullmatch(word):
        sign, whole, _, fraction = match.groups()
        return float(sign + whole.replace(",", "") + (fraction or ""))
    return float("nan")


def numbers_of(words: list[str]) -> Floats:
    """Return the number each word spells, NaN where it spells none."""
    return np.fromiter((number_of(word) for word in words), dtype=np.float64, count=len(words))


def is_boolean(words: list[str]) -> bool:
    """Return whether the words are a pair such as true/false, yes/no, t/f or y/n, in any case.

    >>> is_boolean(["Yes", "no", "NO"]), is_boolean(["f", "m"]), is_boolean(["yes"])
    (True, False, False)
    """
    return frozenset(word.lower() for word in words) in _BOOLEAN_PAIRS


def are_truth_values(words: list[str]) -> bool:
    """Return whether every word is true or false, in any case.

    >>> are_truth_values(["True", "FALSE"]), are_truth_values(["True"]), are_truth_values(["True", "1"])
    (True, True, False)
    """
    return {word.lower() for word in words} <= {"true", "false"}


def booleans_of(words: list[str]) -> Floats:
    """Return 1 for true, yes, t, y and 1; 0 for their opposites; NaN for any other word."""
    lower = [word.lower() for word in words]
    return np.array([1.0 if word in _TRUE else 0.0 if word in _FALSE else np.nan for word in lower])


def is_absent(word: str) -> bool:
    """Return whether a word among numbers or dates means "no value"."""
    return word.lower() in ABSENT_WORDS


def without_extremes(values: Floats) -> Floats:
    """Return the values with ±Inf and numbers beyond 1e300 made missing."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) <= LARGEST, values, np.nan)
