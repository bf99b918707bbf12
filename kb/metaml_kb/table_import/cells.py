"""The meaning of a cell in a table of hyperparameters: a number, true or false, None, a word, or no value.

Spaces around a cell are removed. Then the first rule that fits applies:

1. In a word column, every cell that is not empty is a word.
2. An empty cell has no value. Nor have `NA`, `NaN`, `nan`, `NULL`, `null` and `?` in a column without other words.
3. `None` is Python's None; `none` is a word. If `None` is the name of something, declare a word column.
4. `True`, `TRUE`, `true`, `False`, `FALSE` and `false` are booleans.
5. `3`, `-3` and `3e5` are integers; `3.0`, `1e-3` and `.5` are decimals. One decimal in a column makes all its numbers
   decimals. So a configuration has one identity, even if a program wrote `1.0` as `1`. `007`, `inf` and `1_000` are
   words.
6. Anything else is a word, such as `['PCA', 'Scaler']`.

A cell with a whole configuration, as a Python or JSON dict, gives the types itself. JSON writers also drop the `.0`, so
rule 5 applies to the values of a name across all configurations of an algorithm.
"""

import ast
import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Literal, NoReturn

from metaml_kb.records import Value
from metaml_kb.table_import.file import BadCell


class Missing(Enum):
    """Marks a cell without a value."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
Cell = Value | Literal[Missing.MISSING]

DEFAULT_WORD = "default"
"""The value in a configuration if the table says that the default was used, but not what it is."""

MISSING_WORDS = frozenset({"NA", "NaN", "nan", "NULL", "null", "?"})
NAMED: dict[str, Cell] = {
    "": MISSING,
    "None": None,
    **dict.fromkeys(("True", "TRUE", "true"), True),
    **dict.fromkeys(("False", "FALSE", "false"), False),
}
NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(\.[0-9]*)?|(\.[0-9]+))(?:[eE]([+-]?[0-9]{1,3}))?")
LARGEST_EXPONENT = 15
LONGEST_NUMBER = 100


def read_cell(text: str) -> Cell:
    """Return the meaning of a single cell, by rules 2 to 6 without what depends on its column.

    >>> [read_cell(text) for text in ("3", "3.0", "1e+05", "TRUE", "None", "none", "007")]
    [3, 3.0, 100000, True, None, 'none', '007']
    """
    if text in NAMED:
        return NAMED[text]
    found = NUMBER.fullmatch(text)
    if found is None or len(text) > LONGEST_NUMBER:
        return text
    point, bare_point, exponent = found.groups()
    if point is None and bare_point is None:
        if exponent is None:
            return int(text)
        # R writes the integer 100000 as 1e+05.
        if 0 <= int(exponent) <= LARGEST_EXPONENT:
            return int(float(text))
    number = float(text)
    return number if math.isfinite(number) else text


def read_number(text: str) -> float | None:
    """Return a score or a number of seconds; None for an empty cell or a word such as NA.

    >>> read_number("0.95"), read_number("NA")
    (0.95, None)
    """
    if text in ("", "None") or text in MISSING_WORDS:
        return None
    if NUMBER.fullmatch(text) is None or not math.isfinite(number := float(text)):
        raise BadCell("expected a finite number with a decimal point, or nothing")
    return number


def read_name(text: str) -> str:
    """Return the name of a data set or an algorithm. Raises `BadCell` for an empty cell."""
    if not text:
        raise BadCell("expected a name")
    return text


class ColumnReader:
    """Reads the cells of one hyperparameter. First call `look` with all cells, then `read`.

    `default` is the text that an empty cell means. Without it an empty cell is MISSING, or the word `default` if
    `empty_is_default`.
    """

    def __init__(self, name: str, *, is_words: bool, is_decimal: bool, default: str | None, empty_is_default: bool):
        self.name = name
        self.is_words = is_words
        self.has_decimals = is_decimal
        self.default = default
        self.empty_is_default = empty_is_default
        self.has_words = is_words
        self.missing_words: set[str] = set()
        self.has_default_word = False
        self.n_empty = 0
        if default is not None:
            self.look([default])

    def look(self, cells: Iterable[str]) -> None:
        """Learn from some cells whether the column holds words and decimals."""
        for text, n in _counted(cells).items():
            value = self._alone(text)
            self.n_empty += n if value is MISSING else 0
            self.has_decimals |= isinstance(value, float)
            self.has_default_word |= value == DEFAULT_WORD
            if isinstance(value, str) and value in MISSING_WORDS and not self.is_words:
                self.missing_words.add(value)
            elif isinstance(value, str):
                self.has_words = True

    def _alone(self, text: str) -> Cell:
        return (text or MISSING) if self.is_words else read_cell(text)

    @property
    def drops(self) -> list[str]:
        """The words that mean an empty cell in this column, such as NA."""
        return [] if self.has_words else sorted(self.missing_words)

    @property
    def confuses_default(self) -> bool:
        """Whether an empty cell would become the word `default`, which the column also holds as a value."""
        has_empty = self.n_empty > 0 or bool(self.drops)
        return self.empty_is_default and self.default is None and has_empty and self.has_default_word

    def read(self, text: str) -> Cell:
        """Return the meaning of a cell in this column."""
        value = self._alone(text)
        if isinstance(value, str) and value in self.missing_words and not self.has_words:
            value = MISSING
        if value is MISSING:
            if self.default is not None:
                value = self._alone(self.default)
            elif self.empty_is_default:
                return DEFAULT_WORD
        return float(value) if self.has_decimals and type(value) is int else value


def _counted(cells: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for cell in cells:
        text = cell.strip()
        counts[text] = counts.get(text, 0) + 1
    return counts


class ConfigReader:
    """Reads cells that hold a whole configuration. First call `look` with all cells, then `read`."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.nested: dict[str, None] = {}
        self._decimals: set[tuple[str, str]] = set()

    def look(self, algorithm: str, parsed: Mapping[str, Any]) -> None:
        """Learn from one parsed cell which names there are and which of them hold decimals."""
        for name, value in parsed.items():
            self.names[name] = None
            if isinstance(value, float):
                self._decimals.add((algorithm, name))
            elif not isinstance(value, str | int | None):
                self.nested[name] = None

    def read(self, algorithm: str, parsed: Mapping[str, Any]) -> dict[str, Value]:
        """Return a parsed cell as a configuration; a list or dict within it becomes its text."""
        config: dict[str, Value] = {}
        for name, value in parsed.items():
            if type(value) is int and (algorithm, name) in self._decimals:
                config[name] = float(value)
            else:
                config[name] = value if isinstance(value, str | int | float | None) else repr(value)
        return config


@lru_cache(maxsize=4096)
def parse_config(text: str) -> Mapping[str, Any]:
    """Return the dict in a cell, sorted by name. It may be JSON or a Python literal; no code in it is run.

    >>> parse_config("{'max_depth': None, 'criterion': 'gini'}")
    {'criterion': 'gini', 'max_depth': None}
    """
    if not text:
        return {}
    try:
        parsed = _literal(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise BadCell("expected a dict, written in JSON or as a Python literal") from None
    if not isinstance(parsed, dict) or not all(isinstance(name, str) for name in parsed):
        raise BadCell("expected a dict with texts as names")
    if any(isinstance(value, float) and not math.isfinite(value) for value in parsed.values()):
        raise BadCell("expected finite numbers")
    if not _is_unicode(parsed):
        raise BadCell("expected text without half a character, such as \\ud800")
    return dict(sorted(parsed.items()))


def _is_unicode(parsed: dict[str, Any]) -> bool:
    """Return whether names and words can be stored: an escape such as \\ud800 is half a character."""
    try:
        "".join(word for pair in parsed.items() for word in pair if isinstance(word, str)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _literal(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError:
        return ast.literal_eval(text)


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)
