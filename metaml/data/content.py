"""The bytes of a data file: of a regular file or a pipe, unpacked, within limits of time and memory."""

import bz2
import gzip
import io
import lzma
import math
import os
import select
import stat
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from metaml.budget import Budget
from metaml.errors import BadDataset

FORMATS = (".csv", ".tsv", ".txt", ".data", ".parquet", ".pq", ".arff")
ADVICE = "Give a csv, parquet or ARFF file (.gz, .xz, .bz2 or .zip are unpacked)"

COLUMN_SECONDS = 0.00015
"""What reading and inspecting a column takes at least."""
_CHUNK = 1 << 20
_UNPACKERS: tuple[tuple[bytes, Callable[..., Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"BZh", bz2.open),
)


@dataclass(frozen=True)
class ReadingLimits:
    """How long reading may take, and how many megabytes a pipe, a compressed file or a parquet file may give.

    None is no limit but the machine's memory.
    """

    budget: Budget | None = None
    megabytes: float | None = None

    @property
    def most_bytes(self) -> int:
        """Return how many bytes there is room for: no more than the free memory."""
        free = available()
        return free if self.megabytes is None else min(free, round(self.megabytes * 1e6))

    def check_bytes(self, n_bytes: int, name: str, most: int | None = None) -> None:
        """Raise `BadDataset` if a file needs more than `most` bytes; None means `most_bytes`."""
        most = self.most_bytes if most is None else most
        if n_bytes > most:
            raise BadDataset(f"{name} needs more than {most / 1e6:,.0f} megabytes of memory. Give fewer rows.")

    def check_columns(self, n_columns: int, name: str) -> None:
        """Raise `BadDataset` if there is no time to read and inspect so many columns; `name` is that of the file."""
        # Some thousand columns never matter, however late it is.
        left = math.inf if self.budget is None else max(self.budget.left, 1.0)
        if n_columns * COLUMN_SECONDS > left:
            what = f"{n_columns:,} columns, too many to read in the time budget"
            raise BadDataset(f"{name} has {what}. Give more time or fewer columns.")


NO_LIMITS = ReadingLimits()


def content_of(path: Path, limits: ReadingLimits = NO_LIMITS) -> bytes:
    """Return the content of a file or a pipe, unpacked if it is compressed.

    Raises `BadDataset` if it cannot be read, is a device, or is larger than memory or the limits allow.
    """
    try:
        kind = path.stat().st_mode
        if stat.S_ISFIFO(kind):
            content = _piped(path, limits)
        elif stat.S_ISREG(kind) or stat.S_ISDIR(kind):
            with path.open("rb") as file:
                content = _read(file, path.name)
        else:
            raise BadDataset(f"{path} is neither a file nor a pipe: it may never end. {ADVICE}.")
    except FileNotFoundError:
        raise BadDataset(f"There is no file {path}. Check the path.") from None
    except IsADirectoryError:
        raise BadDataset(f"{path} is a folder. Name one file in it.") from None
    except OSError as error:
        raise BadDataset(f"{path} cannot be read: {error.strerror}. Check its permissions.") from None
    return _unpacked(content, path.name, limits)


def available() -> int:
    """Return the bytes of memory that are free."""
    return int(psutil.virtual_memory().available)


def _read(file: IO[bytes], name: str, limits: ReadingLimits = NO_LIMITS) -> bytes:
    """Return what an open file holds, if there is memory for it."""
    most, n_bytes, parts = limits.most_bytes, 0, []
    while part := file.read(_CHUNK):
        parts.append(part)
        n_bytes += len(part)
        limits.check_bytes(n_bytes, name, most)
    return b"".join(parts)


def _piped(path: Path, limits: ReadingLimits) -> bytes:
    """Return what comes out of a pipe until its writer closes it."""
    most, n_bytes, parts = limits.most_bytes, 0, []
    # Otherwise opening would wait for a writer, however long.
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while _is_ready(pipe, limits.budget, path) and (part := os.read(pipe, _CHUNK)):
            parts.append(part)
            n_bytes += len(part)
            if n_bytes > most:
                raise BadDataset(
                    f"The pipe {path} gave more than {most / 1e6:,.0f} megabytes, and no end. "
                    "Give fewer rows, or save them to a file first."
                )
    finally:
        os.close(pipe)
    return b"".join(parts)


def _is_ready(pipe: int, budget: Budget | None, path: Path) -> bool:
    """Return True as soon as a pipe has data or its end; raise `BadDataset` if the time is used up before."""
    left = None if budget is None or budget.seconds is None else max(budget.left, 0.0)
    if left == 0 or not select.select([pipe], [], [], left)[0]:
        raise BadDataset(
            f"The pipe {path} did not end within the time budget. Give more time, or save the data to a file first."
        )
    return True


def _unpacked(content: bytes, name: str, limits: ReadingLimits) -> bytes:
    try:
        for magic, unpack in _UNPACKERS:
            if content.startswith(magic):
                with unpack(io.BytesIO(content)) as file:
                    return _read(file, name, limits)
        if content.startswith(b"PK\x03\x04"):
            return _unzipped(content, name, limits)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError) as error:
        raise BadDataset(f"{name} cannot be unpacked: {error}. Fetch it again.") from None
    return content


def _unzipped(content: bytes, name: str, limits: ReadingLimits) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [member for member in archive.namelist() if not member.endswith("/") and "__MACOSX" not in member]
        if any(member in ("[Content_Types].xml", "mimetype") for member in members):
            raise BadDataset(f"{name} is a spreadsheet or Office document. Save it as csv.")
        tables = [member for member in members if Path(member).suffix.lower() in FORMATS] or members
        if len(tables) != 1:
            raise BadDataset(
                f"{name} holds {len(tables)} files ({', '.join(tables[:4])}). Unpack it and name one of them."
            )
        with archive.open(tables[0]) as file:
            return _read(file, name, limits)
