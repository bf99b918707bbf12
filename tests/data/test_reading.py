"""Files of every supported format and packing, and files that are none."""

import bz2
import gzip
import io
import lzma
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest

from metaml.budget import Budget
from metaml.data import ReadingLimits, Schema, read_dataset, read_frame
from metaml.errors import BadDataset

ROWS = [("1.5", "red", "p"), ("2.5", "dark; blue, x|y", "q"), ("3", "red", "p"), ("", "NA", "q")] * 2


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def delimited(delimiter: str) -> str:
    quoted = ((number, f'"{word}"', label) for number, word, label in ROWS)
    return "\n".join(delimiter.join(row) for row in [("a", "b", "y"), *quoted]) + "\n"


def zipped(content: bytes, *names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


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
    monkeypatch.setattr("metaml.data.content._available", lambda: 5_000_000)

    with pytest.raises(BadDataset, match=r"bomb\.csv\.gz is larger than the free memory of 5 megabytes"):
        read_frame(written(tmp_path / "bomb.csv.gz", gzip.compress(bytes(6_000_000))))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_delimiter_is_found_though_cells_hold_the_others(tmp_path: Path, delimiter: str, mark: str) -> None:
    frame = read_frame(written(tmp_path / "x.csv", mark + delimited(delimiter)))

    assert list(frame.columns) == ["a", "b", "y"]
    assert frame["a"].dropna().tolist() == [1.5, 2.5, 3.0] * 2
    assert frame["b"].tolist()[1] == "dark; blue, x|y"
    assert frame["b"].isna().tolist() == [False, False, False, True] * 2


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".bz2", bz2.compress),
        (".zip", lambda content: zipped(content, "x.csv")),
    ],
)
def test_packed_files_are_unpacked_whatever_they_are_called(
    tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]
) -> None:
    content = pack(delimited(",").encode())

    named = read_dataset(written(tmp_path / f"x.csv{ending}", content))
    misnamed = read_dataset(written(tmp_path / "misnamed.csv", content))

    assert named.name == "x"
    assert len(named.X) == 8
    assert named.fingerprint == misnamed.fingerprint


def test_a_name_that_is_not_utf_8_can_be_printed_and_stored(tmp_path: Path) -> None:
    path = written(tmp_path / os.fsdecode(b"gr\xf6\xdfe.csv"), delimited(","))

    assert read_dataset(path).name == "gr??e"


def test_latin_1_is_read_and_said(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "größe,y\n1,ä\n2,ö\n3,ä\n4,ö\n5,ä\n".encode("latin-1"))

    dataset = read_dataset(path)

    assert list(dataset.X.columns) == ["größe"]
    assert [str(repair) for repair in dataset.repairs] == ["read as Latin-1 (the file is not valid UTF-8)"]


def test_the_euro_sign_and_the_quotes_of_windows_are_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(("preis €,y\n" + "1.5,“gut”\n2.5,schlecht – ó\n" * 4).encode("cp1252"))

    dataset = read_dataset(path)

    assert list(dataset.X.columns) == ["preis €"]
    assert dataset.labels is not None
    assert dataset.labels.tolist() == ["schlecht – ó", "“gut”"]
    assert [str(repair) for repair in dataset.repairs] == ["read as Windows-1252 (the file is not valid UTF-8)"]


def test_decimal_commas_are_read_and_said(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "a;b;y\n" + "1,5;2;p\n1.234,25;3;q\n-7;4;p\n,;5;q\n".replace(",;", ";") * 2)

    dataset = read_dataset(path)

    assert dataset.X["a"].tolist()[:3] == [1.5, 1234.25, -7.0]
    assert dataset.repairs[0].what == "commas read as decimal points"


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,5", "1.234,25", "-7", "1,234"], [1.5, 1234.25, -7.0, 1.234]),
        (["0,126", "1,304", "2,000", "3,000"], [0.126, 1.304, 2.0, 3.0]),
        (["1,234", "12", "5,678,901", "-2,500"], [1234.0, 12.0, 5678901.0, -2500.0]),
        (["1,234.5", "12", "5,678.0", "7"], [1234.5, 12.0, 5678.0, 7.0]),
    ],
    ids=["a short fraction", "a leading zero", "thousands", "thousands and a fraction"],
)
def test_commas_in_quotes_are_thousands_unless_a_number_says_otherwise(
    tmp_path: Path, cells: list[str], numbers: list[float]
) -> None:
    path = written(tmp_path / "x.csv", "a,b,y\n" + "".join(f'"{cell}",{cell[-1]},{cell[0]}\n' for cell in cells * 6))

    assert read_dataset(path, target="b").X["a"].tolist()[:4] == numbers


def test_a_quoted_comma_is_a_decimal_point_where_it_was_one_in_training(tmp_path: Path) -> None:
    training = written(tmp_path / "x.csv", "a,b,y\n" + '"6,7",2.5,p\n"1,5",3.5,q\n' * 3)
    schema = read_dataset(training).schema

    applied = schema.apply(read_frame(written(tmp_path / "new.csv", 'a,b\n"1,250",1.250\n'), schema))

    assert applied.to_numpy().tolist() == [[1.25, 1.25]]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a;b\n1.234;1.234\n2.500;2\n", [1234.0, 2500.0]),
        ("a;b\n1.234;1.234\n500;2\n", [1234.0, 500.0]),
        ("a;b\n1,234;1.234\nunknown;2\n", [1.234, None]),
        ("a;b\n1.234;1.234\n2.5;2\n", [1.234, 2.5]),
        ("a;b\n1.234;1.234\n0.750;2\n", [1.234, 0.75]),
        ("a,b\n1.234,1.234\n2.500,2\n", [1.234, 2.5]),
        ("a\n1.234\n2.500\n", [1234.0, 2500.0]),
    ],
)
def test_dots_are_thousands_where_training_had_decimal_commas_and_no_number_says_otherwise(
    tmp_path: Path, text: str, numbers: list[float | None]
) -> None:
    training = written(tmp_path / "x.csv", "a;b;y\n" + "6.095,7;2.5;p\n1,5;3.5;q\n7;4.5;p\n" * 2)
    schema = Schema.from_json(read_dataset(training).schema.to_json())

    applied = schema.read(read_frame(written(tmp_path / "new.csv", text), schema))

    assert [None if np.isnan(number) else number for number in applied.X["a"]] == numbers


def test_decimal_commas_are_expected_at_their_place_beside_the_target(tmp_path: Path) -> None:
    training = written(tmp_path / "x.data", "p;2.5;3.5;6.095,7\nq;3.5;4.5;1,5\n" * 4)
    schema = read_dataset(training, target="column_1").schema

    applied = schema.apply(read_frame(written(tmp_path / "new.data", "2.500;3.500;1.234\n"), schema))

    assert applied.to_numpy().tolist() == [[2.5, 3.5, 1234.0]]


def test_row_names_that_r_leaves_out_of_the_header_are_found(tmp_path: Path) -> None:
    lines = [f"{row},{row / 2},{'pq'[row % 2]}" for row in range(1, 9)]
    path = written(tmp_path / "x.csv", "a,y\n" + "\n".join(lines))

    frame = read_frame(path)

    assert list(frame.columns) == ["", "a", "y"]
    assert list(read_dataset(path).X.columns) == ["a"]


def test_a_file_without_header_keeps_its_first_row(tmp_path: Path) -> None:
    path = written(tmp_path / "iris.data", "5.1,3.5,setosa\n4.9,3.0,virginica\n" * 3)

    dataset = read_dataset(path)

    assert len(dataset.X) == 6
    assert list(dataset.X.columns) == ["column_1", "column_2"]
    assert dataset.repairs[0].why == "the first line holds data, not names"


@pytest.mark.parametrize(
    "lines",
    [
        ["39, Private, 13, <=50K", "50, Self-emp, 13, <=50K", "38, Private, 9, >50K"],
        ["p,x,s", "e,x,y", "p,b,s"],
        ["b,?,1.25,00202,+", "a,?,0,00043,+", "b,u,0.5,00100,-"],
    ],
    ids=["few numbers", "no numbers", "a gap"],
)
def test_a_first_line_of_words_that_stand_again_below_is_data(tmp_path: Path, lines: list[str]) -> None:
    frame = read_frame(written(tmp_path / "x.data", "\n".join(lines * 3)))

    assert len(frame) == 9
    assert frame.columns[0] == "column_1"


@pytest.mark.parametrize(
    "text",
    [
        "city,2019,2020\nBonn,1,2\nBonn,3,4\n",
        "Mail,Phone\nMail,\n,Phone\nMail,Phone\n",
        "a,b\nx,1\na,b\nx,2\n",
    ],
    ids=["years", "ticked answers", "a repeated header"],
)
def test_a_first_line_of_names_is_the_header(tmp_path: Path, text: str) -> None:
    frame = read_frame(written(tmp_path / "x.csv", text))

    assert list(frame.columns) == text.split("\n")[0].split(",")


def test_short_lines_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "y,a,b\np,1,2\nq,2\np,3,4\nq,4,5\np,5,6\nq,6,7\n")

    dataset = read_dataset(path, target="y")

    assert str(dataset.repairs[0]) == "1 absent cell read as missing (some lines are shorter than the header)"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "cells"), [("\na\n1\n\n3\n\n", [1.0, None, 3.0]), ("1.5\n\n \n3", [1.5, None, None, 3.0])]
)
def test_a_blank_line_is_an_empty_cell_of_a_single_column(
    tmp_path: Path, text: str, cells: list[float | None], end: str
) -> None:
    frame = read_frame(written(tmp_path / "x.csv", text.replace("\n", end)))

    assert frame.iloc[:, 0].astype(object).where(frame.iloc[:, 0].notna(), None).tolist() == cells


def test_a_blank_line_is_no_row_of_several_columns(tmp_path: Path) -> None:
    frame = read_frame(written(tmp_path / "x.csv", "a,b\n1,2\n\n3,4\n\n"))

    assert frame["a"].tolist() == [1, 3]


def test_dense_arff_keeps_nominal_columns_as_categories(tmp_path: Path) -> None:
    text = """% made by hand
@RELATION 'a b'
@attribute 'the number' numeric
@attribute colour {red, 'dark blue', "a,b"}
@attribute code {1,2,3}
@attribute note string
@attribute day date "yyyy-MM-dd"
@attribute class {p,q}
@data
1.5, red, 1, 'a, b', 2020-01-01, p
?, 'dark blue', 2, c, 2020-02-01, q
3, "a,b", 3, ?, ?, p
4, ?, ?, c, 2020-03-01, q
5, red, 1, c, 2020-04-01, p
"""

    dataset = read_dataset(written(tmp_path / "x.arff", text))

    kinds = {column.name: column.kind for column in dataset.columns}
    assert kinds == {
        "the number": "numeric",
        "colour": "category",
        "code": "category",
        "note": "category",
        "day": "date",
    }
    assert dataset.X["colour"].tolist()[:3] == ["red", "dark blue", "a,b"]
    assert np.isnan(dataset.X["the number"][1])
    assert dataset.labels is not None
    assert dataset.labels.tolist() == ["p", "q"]


def test_sparse_arff_fills_in_zero_and_the_first_category(tmp_path: Path) -> None:
    text = """@relation x
@attribute a numeric
@attribute b {none,some}
@attribute class {p,q}
@data
{0 1.5, 1 some}
{2 q}
{0 ?, 2 p}
"""

    frame = read_frame(written(tmp_path / "x.arff", text))

    assert frame["a"].fillna(-1).tolist() == [1.5, 0.0, -1.0]
    assert frame["b"].tolist() == ["some", "none", "none"]
    assert frame["class"].tolist() == ["p", "q", "p"]


def test_parquet_is_read_with_its_types(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"a": [1, 2] * 3, "when": pd.date_range("2020-01-01", periods=6), "y": pd.Categorical(["p", "q"] * 3)}
    )
    frame.to_parquet(tmp_path / "x.parquet")

    pd.testing.assert_frame_equal(read_frame(tmp_path / "x.parquet"), frame)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.csv", b"", "is empty"),
        ("x.csv", b"\n  \n", "is empty"),
        ("x.csv", b"a,b,c\n", "has a header but no rows"),
        ("x.csv", bytes(range(256)), "is not text"),
        ("x.csv", b"<!DOCTYPE html><html><body>404</body></html>", "is a web page"),
        ("x.csv", b'{"a": 1}', "is JSON"),
        ("x.csv", b"a,b\n1,2\n3,4,5\n6,7\n", "Expected 2 fields in line 3, saw 3"),
        ("x.pdf", b"%PDF-1.4 ...", "is a PDF"),
        ("x.gz", gzip.compress(b"a,b\n1,2\n" * 50, mtime=0)[:25], "cannot be unpacked"),
        ("x.zip", zipped(b"a,b\n1,2\n", "a.csv", "b.csv"), "holds 2 files (a.csv, b.csv)"),
        ("x.xlsx", zipped(b"<xml/>", "[Content_Types].xml"), "is a spreadsheet"),
        ("x.parquet", b"PAR1 and then nothing", "is not readable as parquet"),
        ("x.arff", b"@relation x\n@attribute a numeric\n", "without @data"),
        ("x.arff", b"@relation x\n@attribute a {p}\n@data\nz\n", "is not valid ARFF"),
        ("x.arff", b"@relation x\n@attribute a numeric\n@data\n", "no rows"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = written(tmp_path / name, content)

    with pytest.raises(BadDataset) as refused:
        read_frame(path)

    assert says in str(refused.value)
    assert str(refused.value).startswith(name)
    assert str(refused.value).endswith(".")
    assert ".. " not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match="There is no file"):
        read_frame(tmp_path / "nowhere.csv")
    with pytest.raises(BadDataset, match="is a folder"):
        read_frame(tmp_path)
