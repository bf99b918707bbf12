"""Read third-party csv and tsv files as raw cells, in chunks. Only the separator is guessed.

We use the csv module because it says which line is too short or too long. A data frame reader would fill or shift
cells.
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
    """A cell that cannot be read. The message says what was expected."""


@dataclass(frozen=True, slots=True)
class RowChunk:
    """Some rows as columns of raw cells. `lines` holds the line of the file where each row ends."""

    file: str
    lines: list[int]
    cells: dict[str, list[str]]

    def read(self, column: str, read: Callable[[str], T]) -> list[T]:
        """Return `read(cell)` for each cell of a column, without spaces around it; equal cells are read once.

        Raises `BadTable` with the line number if `read` raises `BadCell`.
        """
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
    """A csv or tsv file whose header has been read. The name of a column without one is ''."""

    path: Path
    separator: str
    columns: tuple[str, ...]

    def chunks(self, size: int = CHUNK) -> Iterator[RowChunk]:
        """Yield all rows, `size` at a time; blank lines are skipped."""
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
                            f"{len(self.columns)}. Correct the line, or choose another separator with --sep."
                        )
                columns = map(list, zip(*(row for _, row in part), strict=True))
                yield RowChunk(self.path.name, lines, dict(zip(self.columns, columns, strict=True)))

    def require(self, column: str, option: str) -> None:
        """Raise `BadTable` unless the file has a column; the message lists the columns it has."""
        if column not in self.columns:
            some = ", ".join(self.columns[:12]) + (", …" if len(self.columns) > 12 else "")
            raise BadTable(f"{self.path.name} has no column {column!r}. Columns: {some}. Choose one with {option}.")


def open_table(path: Path, separator: str | None = None) -> TableFile:
    """Open a table and read its header.

    The content shows whether it is gzip-compressed. Without a `separator`, the first line decides. Raises `BadTable` if
    the file is missing, empty or not UTF-8 text, or two columns have the same name.
    """
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
    """Return the most frequent separator in a header, outside quotes; in a .tsv file a tab, if there is one.

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
    """Replace the errors of reading a file by a `BadTable` with one sentence."""
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
