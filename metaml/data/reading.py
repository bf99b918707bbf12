"""Files in: what a file is (by its content, not by its name), read into a raw frame."""

import io
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pandas as pd

from metaml.data.arff_file import is_arff, parse_arff
from metaml.data.columns import Repair
from metaml.data.content import ADVICE, FORMATS, NO_LIMITS, ReadingLimits, content_of
from metaml.data.delimited import parse_delimited
from metaml.data.raw import RawTable
from metaml.data.schema import Schema
from metaml.errors import BadDataset

CELL_BYTES = 8
"""What a cell takes in memory."""
PACKINGS = (".gz", ".xz", ".bz2", ".zip")

_WINDOWS = re.compile(rb"[\x80-\x9f]")
_FOREIGN = (
    (b"%PDF", "a PDF document"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
)


def read_frame(path: str | Path, like: Schema | None = None) -> pd.DataFrame:
    """Return the table in a file, nothing dropped; empty cells and the words of `MISSING_WORDS` are missing.

    It reads comma, semicolon, tab and | separated text (UTF-8, else Windows-1252 or Latin-1), parquet and ARFF, also
    compressed as gz, xz, bz2 or zip. `like` is the schema of the model that the table is for: if the training data had
    decimal commas, 1.234 is read as 1234.
    """
    return read_table(path, like).frame


def read_table(path: str | Path, like: Schema | None = None, limits: ReadingLimits = NO_LIMITS) -> RawTable:
    """Return the table in a file or a pipe and the repairs needed to read it; `like` is as in `read_frame`."""
    path = Path(path)
    return parse_table(content_of(path, limits), path.name, like, limits)


def table_name(path: str | Path) -> str:
    """Return a file's name without the endings for format and compression; bytes that are not text become "?".

    >>> table_name("data/credit-g.csv.gz"), table_name("v1.2.arff")
    ('credit-g', 'v1.2')
    """
    name = Path(path).name.encode("utf-8", "replace").decode()
    while Path(name).suffix.lower() in PACKINGS + FORMATS:
        name = Path(name).stem
    return name


def parse_table(content: bytes, name: str, like: Schema | None = None, limits: ReadingLimits = NO_LIMITS) -> RawTable:
    """Return the table in an unpacked file's content; `name` is for messages, `like` as in `read_frame`."""
    if not content.strip():
        raise BadDataset(f"{name} is empty. {ADVICE}.")
    if content.startswith(b"PAR1"):
        return _parse_parquet(content, name, limits)
    for magic, what in _FOREIGN:
        if content.startswith(magic):
            raise BadDataset(f"{name} is {what}. {ADVICE}.")
    text, repairs = _decoded(content, name)
    start = text[:2000].lstrip().lower()
    if start.startswith(("<!doctype html", "<html", "<?xml", "<head", "<body")):
        raise BadDataset(f"{name} is a web page (HTML or XML), so the download went wrong. Fetch the data file itself.")
    if start.startswith(("{", "[{")):
        raise BadDataset(f"{name} is JSON. {ADVICE}.")
    table = parse_arff(text, name) if is_arff(text) else parse_delimited(text, name, like, limits)
    return replace(table, repairs=(*repairs, *table.repairs))


def _decoded(content: bytes, name: str) -> tuple[str, list[Repair]]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16"), [Repair(None, "read as UTF-16", "the file starts with its mark")]
        except UnicodeDecodeError:
            raise BadDataset(f"{name} is not text, though it starts like it. {ADVICE}.") from None
    head = content[:8192]
    n_control = sum(byte < 32 and byte not in b"\t\n\r\f\x1a" for byte in head)
    if b"\x00" in head or n_control > 0.02 * len(head):
        raise BadDataset(f"{name} is not text but some binary format. {ADVICE}.")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        text, encoding = _decoded_western(content)
        return text, [Repair(None, f"read as {encoding}", "the file is not valid UTF-8")]


def _decoded_western(content: bytes) -> tuple[str, str]:
    """Return the text and its encoding. Windows-1252 has €, – and “ where Latin-1 has control characters."""
    if _WINDOWS.search(content):
        with suppress(UnicodeDecodeError):  # Windows-1252 does not define five of the bytes.
            return content.decode("cp1252"), "Windows-1252"
    return content.decode("latin-1"), "Latin-1"


def _parse_parquet(content: bytes, name: str, limits: ReadingLimits) -> RawTable:
    import pyarrow
    from pyarrow import parquet

    try:
        # Some kilobytes may hold a column that repeats one number a billion times.
        described = parquet.read_metadata(io.BytesIO(content))
        limits.check_bytes(CELL_BYTES * described.num_rows * described.num_columns, name)
        frame = pd.read_parquet(io.BytesIO(content))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise BadDataset(f"{name} is not readable as parquet: {said}. Write it again.") from None
    if not isinstance(frame.index, pd.RangeIndex):
        named = [name for name in frame.index.names if name is not None]
        frame = frame.reset_index(drop=not named)
    if len(frame) == 0:
        raise BadDataset(f"{name} has columns but no rows. {ADVICE} with data in it.")
    return RawTable(frame)
