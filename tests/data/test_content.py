"""The bytes of a file or a pipe: unpacked, and bounded."""

import gzip
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest

from metaml.budget import Budget
from metaml.data import ReadingLimits, read_dataset, read_frame
from metaml.errors import BadDataset
from tests.data.files import written


@contextmanager
def piped(tmp_path: Path, content: Iterable[bytes]) -> Iterator[Path]:
    """A pipe into which somebody writes until nobody reads any more."""

    def write() -> None:
        with suppress(BrokenPipeError), (tmp_path / "pipe.csv").open("wb", buffering=0) as pipe:
            for part in content:
                pipe.write(part)

    os.mkfifo(tmp_path / "pipe.csv")
    writer = Thread(target=write)
    writer.start()
    yield tmp_path / "pipe.csv"
    writer.join()


def test_a_pipe_is_read_to_its_end(tmp_path):
    with piped(tmp_path, [b"a,y\n", b"1,p\n2,q\n" * 100_000]) as pipe:
        assert len(read_dataset(pipe).y) == 200_000


def packed_parquet(path: Path) -> None:
    pd.DataFrame({"a": np.zeros(200_000), "y": [0, 1] * 100_000}).to_parquet(path)


def packed_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", b"a,y\n" + b"0.0,1\n" * 200_000)


def packed_gz(path: Path) -> None:
    path.write_bytes(gzip.compress(b"a,y\n" + b"0.0,1\n" * 200_000))


@pytest.mark.parametrize("write", [packed_parquet, packed_zip, packed_gz])
def test_some_kilobytes_that_unpack_to_more_than_the_limit_are_refused(tmp_path, write):
    write(tmp_path / "x")

    assert (tmp_path / "x").stat().st_size < 40_000
    with pytest.raises(BadDataset, match="needs more than 1 megabytes of memory"):
        read_dataset(tmp_path / "x", limits=ReadingLimits(megabytes=1))


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(path):
    with pytest.raises(BadDataset, match=f"{path} is neither a file nor a pipe"):
        read_dataset(path)


def test_a_pipe_without_an_end_is_read_within_the_memory_limit(tmp_path):
    with (
        piped(tmp_path, repeat(b"1,2,3\n" * 1000)) as pipe,
        pytest.raises(BadDataset, match="gave more than 5 megabytes, and no end"),
    ):
        read_dataset(pipe, limits=ReadingLimits(megabytes=5))


def test_a_pipe_that_gives_nothing_more_is_read_within_the_budget(tmp_path):
    def dribble() -> Iterator[bytes]:
        yield b"a,y\n"
        is_over.wait()

    is_over = Event()
    with piped(tmp_path, dribble()) as pipe:
        with pytest.raises(BadDataset, match="did not end within the time budget"):
            read_dataset(pipe, limits=ReadingLimits(Budget(0.1)))
        is_over.set()


def test_what_unpacks_to_more_than_there_is_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("metaml.data.content.available", lambda: 5_000_000)

    with pytest.raises(BadDataset, match=r"bomb\.csv\.gz needs more than 5 megabytes of memory"):
        read_frame(written(tmp_path / "bomb.csv.gz", gzip.compress(bytes(6_000_000))))


def test_more_columns_than_the_time_allows_are_refused_before_they_are_read(tmp_path):
    path = written(tmp_path / "wide.csv", ",".join(f"c{place}" for place in range(30_000)) + "\n1\n2\n")

    with pytest.raises(BadDataset, match=r"30,000 columns, too many to read in the time budget. Give more time"):
        read_dataset(path, limits=ReadingLimits(Budget(2.0)))


def test_few_columns_are_read_however_late_it_is(tmp_path):
    path = written(tmp_path / "late.csv", "a,y\n" + "1,p\n2,q\n" * 10)

    assert read_dataset(path, limits=ReadingLimits(Budget(0.0))).X.shape == (20, 1)
