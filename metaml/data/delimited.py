"""Comma, semicolon, tab or | separated text into a raw frame."""

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pandas as pd

from metaml.data.cells import MISSING_WORDS, is_absent, numbers_of
from metaml.data.columns import Repair, with_noun
from metaml.data.content import NO_LIMITS, ReadingLimits
from metaml.data.names import names_by_position
from metaml.data.raw import RawTable
from metaml.data.schema import Schema
from metaml.errors import BadDataset

DELIMITERS = (",", ";", "\t", "|")

_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
_SAMPLE_CHARACTERS = 2_000_000
_LONGEST_CELL = 64_000_000
"""A sample grows up to this many characters until it has a row below the header."""
_SAMPLE_CELLS = 100_000
_SAMPLE_RECORDS = 200
_DECIMAL_COMMA = r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?([eE][+-]?\d+)?"
_PADDED = re.compile(r"0\d+")
_WHOLE = re.compile(r"[+-]?\d+")
_EXACT_INTEGERS = 2.0**53
"""Beyond this, not every integer is a float."""
_ENOUGH = 0.95
# Before pandas 3.1 the default parser is sometimes off by one bit, which would change the fingerprint.
_EXACT: dict[str, Any] = {} if _PANDAS >= (3, 1) else {"float_precision": "round_trip"}


def parse_delimited(text: str, name: str, like: Schema | None = None, limits: ReadingLimits = NO_LIMITS) -> RawTable:
    """Return the table in the text, its header unchanged; `name` is for messages, `like` is as in `read_frame`."""
    delimiter, text = _announced_delimiter(text)
    delimiter = delimiter or sniff_delimiter(text)
    records = _sample(text, delimiter)
    limits.check_columns(len(records[0]), name)
    has_header = not _starts_with_data(records, like)
    if has_header and len(records) == 1:
        if len(text) > _LONGEST_CELL:
            raise BadDataset(
                f"{name} has a cell of more than {_LONGEST_CELL:,} characters. Shorten it or leave it out."
            )
        raise BadDataset(f"{name} has a header but no rows. Give a table with data in it.")
    header = _full_header(records) if has_header else names_by_position(len(records[0]))
    expected = _expected_commas(header, like) if like is not None else ()
    is_bare = delimiter != "," or len(header) == 1  # A comma in a cell needs no quotes.
    padded = _padded_codes(records[1:])
    as_text = (*padded, *(expected if is_bare else ()))
    frame = _read(text, delimiter, len(header), as_text=as_text, has_header=has_header, name=name)
    repairs: list[Repair] = []
    if not has_header:
        repairs.append(Repair(None, "columns named by their position", "the first line holds data, not names"))
    n_delimiters = len(frame) * (len(header) - 1) + (len(records[0]) - 1 if has_header else 0)
    if '"' not in text and text.count(delimiter) < n_delimiters:
        n_absent = n_delimiters - text.count(delimiter)
        repairs.append(
            Repair(
                None, f"{with_noun(n_absent, 'absent cell')} read as missing", "some lines are shorter than the header"
            )
        )
    converted = _convert_decimal_commas(frame, expected, is_bare=is_bare) if is_bare or '"' in text else ()
    for place in converted:
        column = header[place].strip() or f"column_{place + 1}"
        repairs.append(Repair(column, "commas read as decimal points", "its numbers are written the European way"))
    codes = {place: frame[place] for place in padded if place not in converted}
    for place, words in codes.items():
        with suppress(ValueError):  # Further below there are words, too.
            frame[place] = pd.to_numeric(words)
    codes |= _rounded_integers(frame, text, delimiter, has_header=has_header, name=name)
    frame.columns = pd.Index(header, dtype=str)
    return RawTable(frame, tuple(repairs), has_header=has_header, decimal_commas=converted, codes=codes)


def sniff_delimiter(text: str) -> str:
    """Return the delimiter that cuts most lines into as many fields as its header; else a comma.

    >>> sniff_delimiter("a;b\\n1,5;2,5\\n"), sniff_delimiter('a|b\\n"x, y"|2\\n'), sniff_delimiter("a\\n1\\n")
    (';', '|', ',')
    """
    best, most = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        records = _sample(text, delimiter)
        n_fields = len(records[0]) if records else 0
        if n_fields < 2:
            continue
        lengths = Counter(len(record) for record in records[1:])
        usual = max(lengths[n_fields], lengths[n_fields + 1])  # R leaves the row names' header out
        merit = (usual / (len(records) - 1) if len(records) > 1 else 1.0, n_fields)
        if merit > most:
            best, most = delimiter, merit
    return best


def is_data(line: list[str], below: Sequence[list[str]] = ()) -> bool:
    """Return whether the first line is data and not a header.

    It is data if at least half of its cells are numbers, unless these are whole and all different, like years. It is
    also data if each of its words occurs again in its column below, and one of these columns has other words, too.

    >>> is_data(["5.1", "3.5", "setosa"]), is_data(["country", "2019", "2020"]), is_data(["a", "b"])
    (True, False, False)
    >>> is_data(["39", "Private", "<=50K"], [["50", "Self-emp", "<=50K"], ["38", "Private", ">50K"]])
    True
    """
    cells = [cell.strip() for cell in line]
    numbers = numbers_of(cells)
    words = [
        (place, cell)
        for place, cell in enumerate(cells)
        if np.isnan(numbers[place]) and cell not in MISSING_WORDS and not is_absent(cell)
    ]
    numbers = numbers[~np.isnan(numbers)]
    are_like_years = np.all(numbers == np.floor(numbers)) and len(np.unique(numbers)) == len(numbers)
    if len(numbers) >= 0.5 * len(line) and not are_like_years:
        return True
    others = [row for row in below if row != line]  # A header may be repeated.
    columns = [{row[place].strip() for row in others if place < len(row)} for place, _ in words]
    recur = [word in column for (_, word), column in zip(words, columns, strict=True)]
    return bool(words) and all(recur) and any(len(column - MISSING_WORDS) > 1 for column in columns)


def _starts_with_data(records: list[list[str]], like: Schema | None) -> bool:
    """Return whether a table has no header; `like`, if given, knows the names and the cells of the training data."""
    first, *below = records
    if like is None:
        return is_data(first, below)
    if {cell.strip() for cell in first} & {feature.source for feature in like.features}:
        return False
    return is_data(first, below) or like.could_hold(first)


def _announced_delimiter(text: str) -> tuple[str | None, str]:
    """Return the delimiter of Excel's first line "sep=;", if there is one, and the text below it."""
    match = re.match(r'"?sep=([,;\t|])"?\r?\n', text)
    return (match.group(1), text[match.end() :]) if match else (None, text)


def _sample(text: str, delimiter: str) -> list[list[str]]:
    """Return the first lines of a table, cut into fields: more than the header, unless a cell is extremely long."""
    records = _first_records(text, delimiter, _SAMPLE_CHARACTERS)
    if len(records) == 1 and len(text) > _SAMPLE_CHARACTERS:
        return _first_records(text, delimiter, _LONGEST_CELL)
    return records


def _first_records(text: str, delimiter: str, n_characters: int) -> list[list[str]]:
    head = text[:n_characters]
    if len(text) > len(head):
        head = head[: head.rfind("\n") + 1] or head
    records: list[list[str]] = []
    n_cells = 0
    with _long_cells():
        for record in csv.reader(io.StringIO(head, newline=""), delimiter=delimiter, skipinitialspace=True):
            if record:
                records.append(record)
                n_cells += len(record)
            if len(records) == _SAMPLE_RECORDS or (n_cells > _SAMPLE_CELLS and len(records) > 2):
                break
    return records or [[""]]


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let the csv reader accept cells as long as a sample may be; usually it refuses more than 131,072 characters."""
    before = csv.field_size_limit(_LONGEST_CELL + 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _full_header(records: list[list[str]]) -> list[str]:
    """Return the header, with an empty name for the column that all lines have but the header lacks."""
    header, rows = records[0], records[1:]
    if not all(len(row) == len(header) + 1 for row in rows):
        return header
    is_trailing = all(row[-1].strip() == "" for row in rows)
    return [*header, ""] if is_trailing else ["", *header]


def _padded_codes(rows: list[list[str]]) -> tuple[int, ...]:
    """Return the positions of the columns of whole numbers in which a number begins with a zero, such as 007."""
    n_columns = max(map(len, rows), default=0)
    columns = ([row[place].strip() for row in rows if place < len(row)] for place in range(n_columns))
    return tuple(
        place
        for place, cells in enumerate(columns)
        if any(map(_PADDED.fullmatch, cells)) and all(cell.isdecimal() or cell in MISSING_WORDS for cell in cells)
    )


def _rounded_integers(
    frame: pd.DataFrame, text: str, delimiter: str, *, has_header: bool, name: str
) -> dict[int, pd.Series]:
    """Return the columns of huge integers that became floats because cells are missing, as the integers they were."""
    places = [
        place
        for place in range(frame.shape[1])
        if frame[place].dtype == np.float64
        and frame[place].abs().max() >= _EXACT_INTEGERS
        and frame[place].isna().any()
        and bool((frame[place].dropna() % 1 == 0).all())
    ]
    if not places:
        return {}
    words = _read(text, delimiter, frame.shape[1], as_text=places, has_header=has_header, name=name)
    exact = {}
    for place in places:
        there = words[place].dropna().str.strip()
        if there.str.fullmatch(_WHOLE).all():
            with suppress(OverflowError):  # More than 64 bits: only as floats.
                exact[place] = pd.Series([int(word) for word in there], there.index, dtype="Int64").reindex(words.index)
    return exact


def _expected_commas(header: list[str], like: Schema) -> tuple[int, ...]:
    return tuple(place for place, name in enumerate(like.names_of(header)) if name in like.decimal_commas)


def _read(
    text: str, delimiter: str, n_columns: int, *, as_text: Sequence[int], has_header: bool, name: str
) -> pd.DataFrame:
    is_single = n_columns == 1
    if is_single:  # A blank line is an empty cell then, but not at the end, nor before the header.
        text = text.rstrip()
        text = text.lstrip("\r\n") if has_header else text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame: pd.DataFrame = pd.read_csv(
                io.StringIO(text),
                sep=delimiter,
                header=0 if has_header else None,
                names=list(range(n_columns)),
                dtype=dict.fromkeys(as_text, str),
                index_col=False,
                keep_default_na=False,
                na_values=sorted(MISSING_WORDS),
                skipinitialspace=True,
                skip_blank_lines=not is_single,
                low_memory=False,
                **_EXACT,
            )
            return frame
    except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError) as error:
        seen = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
        raise BadDataset(
            f"{name} is not a table: {seen}. Fix that line, or give a csv, parquet or ARFF file."
        ) from None


def _convert_decimal_commas(frame: pd.DataFrame, expected: Sequence[int], *, is_bare: bool) -> tuple[int, ...]:
    """Convert numbers with decimal commas (1.234,5) in place; return the positions of the columns that had any.

    `expected` are the columns that had decimal commas in the training data. `is_bare` means that commas need no quotes,
    because they do not separate cells. If both hold, 1.234 is 1234 even in a column without a comma, as long as all
    of its numbers can be read that way. If commas separate cells, a quoted "1,234" is 1234, unless the column is
    expected or more than 5 % of its numbers with commas, such as "1,5", can only be decimal.
    """
    converted = []
    for place in range(frame.shape[1]):
        column = frame[place]
        if not isinstance(column.dtype, pd.StringDtype) and column.dtype != object:
            continue
        there = column.dropna()
        if there.empty or pd.api.types.infer_dtype(there) != "string":
            continue
        is_expected = place in expected
        if not (is_expected and is_bare) and not there.str.contains(",", regex=False).any():
            continue
        there = there.str.strip()
        is_number = there.str.fullmatch(_DECIMAL_COMMA)
        numbers = there[is_number]
        commas = numbers[numbers.str.contains(",", regex=False)].tolist()
        has_commas = is_number.mean() >= _ENOUGH and len(commas) > 0
        if has_commas and not is_bare and not is_expected:
            has_commas = np.isnan(numbers_of(commas)).mean() > 1 - _ENOUGH
        may_have_dots = is_expected and is_bare and np.isnan(numbers_of(there[~is_number].tolist())).all()
        if not has_commas and not may_have_dots:
            continue
        plain = numbers.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
        cells = column.astype(object)
        cells[plain.index] = plain
        frame[place] = pd.to_numeric(cells) if is_number.all() else cells.astype(column.dtype)
        converted.append(place)
    return tuple(converted)
