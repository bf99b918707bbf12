"""Delimited text files of other people, read as raw cells in chunks; nothing is guessed but the separator.

We read with the csv module: it says at which line a row is too short or too long, where a data frame reader fills or
shifts cells.
"""

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO, TypeVar, cast

from metaml_kb.errors import BadTable

CHUNK = 5_000
SEPARATORS = (",", "\t", ";", "|")
GZIP_MAGIC = b"\x1f\x8b"
LONGEST_HEADER = 1_000_000

T = TypeVar("T")


class BadCell(ValueError):
    """A cell that cannot be read; its text says what was expected."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows as columns of raw cells, with the line of the file each row ends at."""

    file: str
    lines: list[int]
    cells: dict[str, list[str]]

    def read(self, column: str, read: Callable[[str], T]) -> list[T]:
        """Return what `read` makes of each cell of a column; it is asked once for cells that are alike."""
        cells, made = self.cells[column], {}
        for cell in dict.fromkeys(cells):
            try:
                made[cell] = read(cell.strip())
            except BadCell as error:
                line = self.lines[cells.index(cell)]
                shown = cell if len(cell) <= 80 else cell[:77] + "..."
                raise BadTable(f"Line {line} of {self.file} has {shown!r} as {column!r}; {error}.") from None
        return [made[cell] for cell in cells]


@dataclass(frozen=True, slots=True)
class TableFile:
    """A delimited text file whose header has been read; a column without a name is called ''."""

    path: Path
    separator: str
    columns: tuple[str, ...]

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        """Yield all rows, `size` at a time; blank lines are passed over."""
        with _explained(self.path), _open_text(self.path) as file:
            reader = csv.reader(file, delimiter=self.separator, strict=True)
            next(reader)
            numbered = ((reader.line_num, row) for row in reader if row)
            while part := list(islice(numbered, size)):
                lines = [line for line, _ in part]
                for line, row in part:
                    if len(row) != len(self.columns):
                        raise BadTable(
                            f"Line {line} of {self.path.name} has {len(row)} cells where the header has "
                            f"{len(self.columns)}. Mend the line, or choose another separator with --sep."
                        )
                columns = map(list, zip(*(row for _, row in part), strict=True))
                yield Chunk(self.path.name, lines, dict(zip(self.columns, columns, strict=True)))

    def require(self, column: str, option: str) -> None:
        """Raise unless the file has a column; the message lists those it has."""
        if column not in self.columns:
            some = ", ".join(self.columns[:12]) + (", …" if len(self.columns) > 12 else "")
            raise BadTable(f"{self.path.name} has no column {column!r}. Columns: {some}. Choose one with {option}.")


def open_table(path: Path, separator: str | None = None) -> TableFile:
    """Return the file with its header read; .gz or not is seen from its content, the separator from its first line."""
    if separator is not None and len(separator) != 1:
        raise BadTable(f"The separator {separator!r} is not one character. Give for instance --sep ';'.")
    with _explained(path), _open_text(path) as file:
        first = file.readline(LONGEST_HEADER)
    if not first.strip():
        raise BadTable(f"{path.name} is empty. Give a table with a header line.")
    separator = separator or sniff_separator(first, path)
    with _explained(path), _open_text(path) as file:
        columns = tuple(name.strip() for name in next(csv.reader(file, delimiter=separator, strict=True)))
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise BadTable(f"{path.name} has several columns named {twice[0]!r}. Give each column a name of its own.")
    return TableFile(path, separator, columns)


def sniff_separator(header: str, path: Path) -> str:
    """Return the separator that stands most often in a header outside quotes; a tab wins in a .tsv file.

    >>> sniff_separator('task_id;"a,b";score', Path("runs.csv"))
    ';'
    """
    bare = re.sub(r'"[^"]*"', "", header)
    if ".tsv" in path.suffixes and "\t" in bare:
        return "\t"
    return max(SEPARATORS, key=bare.count)


def _open_text(path: Path) -> TextIO:
    with path.open("rb") as raw:
        is_gzip = raw.read(2) == GZIP_MAGIC
    if is_gzip:
        return cast(TextIO, gzip.open(path, "rt", encoding="utf-8-sig", newline=""))
    return path.open(encoding="utf-8-sig", newline="")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what reading a file raises into one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise BadTable(f"There is no file {path}. Check the name.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise BadTable(f"{path.name} is damaged: its compressed content ends early. Fetch it again.") from None
    except OSError as error:
        raise BadTable(f"{path} cannot be read ({error.strerror or error}). Give a csv or tsv file.") from None
    except UnicodeDecodeError:
        raise BadTable(f"{path.name} is not UTF-8 text. Give a csv or tsv file, plain or .gz, in UTF-8.") from None
    except csv.Error as error:
        raise BadTable(f"{path.name} cannot be split into cells ({error}). Check its quotes and --sep.") from None
