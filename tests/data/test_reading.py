"""Files of every supported format and packing, and files that are none."""

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaml.data import read_dataset, read_frame
from metaml.errors import BadDataset
from tests.data.files import delimited, written, zipped


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
        ("x.arff", b"@relation x\n@attribute\n@data\n1\n", "is not valid ARFF: a line cannot be read"),
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
