"""Files that nobody should read without care: a name, what writes the file, and the exit codes that are right."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

FINE, REFUSED, EITHER = (0,), (2,), (0, 2)
ROWS = [f"{i},{i * 7 % 13},{'yes' if i % 3 else 'no'}" for i in range(60)]
TABLE = "a,b,y\n" + "\n".join(ROWS) + "\n"
Write = Callable[[Path], None]
Hostile = tuple[str, Write, tuple[int, ...]]


def content(data: bytes | str) -> Write:
    """Return what writes a file of this content."""
    return lambda path: (path.write_bytes(data.encode() if isinstance(data, str) else data), None)[1]


def lines(cell: Callable[[int], str], *, head: str = "a,y", n: int = 60) -> Write:
    """Return what writes a table with a line for each number."""
    return content(head + "\n" + "\n".join(cell(i) for i in range(n)) + "\n")


def labelled(cell: Callable[[int], object]) -> Write:
    """Return what writes a table whose column `a` is made of numbers, with a label."""
    return lines(lambda i: f"{cell(i)},{'yes' if i % 3 else 'no'}")


def zipped(files: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip file with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def parquet_of(frame: pd.DataFrame, **options: object) -> bytes:
    """Return a frame as parquet."""
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pandas(frame), buffer, **options)
    return buffer.getvalue()


FRAME = pd.read_csv(io.StringIO(TABLE))


def parquet_bomb() -> bytes:
    """Return some kilobytes that unpack to 4 GB."""
    column = pa.array(np.zeros(50_000_000))
    buffer = io.BytesIO()
    table = pa.table({f"c{i}": column for i in range(10)})
    parquet.write_table(table, buffer, compression="zstd", use_dictionary=True)
    return buffer.getvalue()


def excel() -> bytes:
    """Return the skeleton of an Excel workbook."""
    sheet = b"<worksheet><sheetData/></worksheet>"
    return zipped({"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<workbook/>", "xl/worksheets/s.xml": sheet})


def sqlite_file(path: Path) -> None:
    """Write a small SQLite file."""
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE t (a, y)")
        base.commit()


def fifo(path: Path) -> None:
    """Make a pipe that nobody writes into."""
    os.mkfifo(path)


def noise(n: int, seed: int) -> bytes:
    """Return random bytes."""
    return random.Random(seed).randbytes(n)


def wide(n_columns: int) -> bytes:
    """Return a table of many columns and few rows."""
    head = ",".join([*(f"c{i}" for i in range(n_columns)), "y"])
    rows = [",".join([*(str((i * j) % 7) for i in range(n_columns)), "no" if j % 2 else "yes"]) for j in range(24)]
    return (head + "\n" + "\n".join(rows) + "\n").encode()


def zip_bomb() -> bytes:
    """Return a small zip of a table of 5 GB."""
    block = b"1,2,yes\n" * 500_000
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("bomb.csv", "w", force_zip64=True) as file,
    ):
        file.write(b"a,b,y\n")
        for _ in range(1250):
            file.write(block)
    return buffer.getvalue()


def gz_bomb() -> bytes:
    """Return a small gz of 5 GB of zeros."""
    buffer = io.BytesIO()
    with gzip.open(buffer, "wb", compresslevel=1) as file:
        block = bytes(50_000_000)
        for _ in range(100):
            file.write(block)
    return buffer.getvalue()


ARFF = "@relation r\n@attribute a numeric\n@attribute y {yes,no}\n@data\n"
ARFF_ROWS = "\n".join(f"{i},{'yes' if i % 3 else 'no'}" for i in range(60)) + "\n"
GOOD_PARQUET = parquet_of(FRAME)

TEXT: list[Hostile] = [
    ("empty.csv", content(b""), REFUSED),
    ("blank lines.csv", content("\n\n  \n"), REFUSED),
    ("only bom.csv", content(b"\xef\xbb\xbf"), REFUSED),
    ("header only.csv", content("a,b,y\n"), REFUSED),
    ("one row.csv", content("a,b,y\n1,2,yes\n"), REFUSED),
    ("two rows.csv", content("a,b,y\n1,2,yes\n3,4,no\n"), EITHER),
    ("one column.csv", lines(lambda i: str(i % 3), head="y"), EITHER),
    ("one cell.csv", content("x"), REFUSED),
    ("huge first cell.csv", labelled(lambda i: "x" * 200_000 if i == 0 else "z"), EITHER),
    ("huge cell.csv", labelled(lambda i: "x" * 5_000_000 if i == 30 else i), EITHER),
    ("all missing.csv", lines(lambda _: ","), REFUSED),
    ("features missing.csv", lines(lambda i: f",{i % 2}"), EITHER),
    ("target missing.csv", lines(lambda i: f"{i},"), REFUSED),
    ("duplicate headers.csv", content(TABLE.replace("a,b,y", "a,a,a")), EITHER),
    ("empty headers.csv", content(TABLE.replace("a,b,y", ",,")), EITHER),
    ("bom.csv", content(b"\xef\xbb\xbf" + TABLE.encode()), FINE),
    ("utf-16.csv", content(TABLE.encode("utf-16")), FINE),
    ("utf-16 cut.csv", content(TABLE.encode("utf-16")[:-1]), EITHER),
    ("utf-32.csv", content(TABLE.encode("utf-32")), EITHER),
    ("mixed encodings.csv", content("ä,b,y\n".encode() + "ü\xff".encode("latin-1") + TABLE[6:].encode()), EITHER),
    ("latin.csv", content(TABLE.replace("yes", "jä").encode("latin-1")), FINE),
    ("nul bytes.csv", content(TABLE.replace("7", "\0")), EITHER),
    ("only nul.csv", content(bytes(10_000)), REFUSED),
    ("control characters.csv", labelled(lambda i: f"\x1b[2J\x07{i % 4}"), EITHER),
    ("control names.csv", content(TABLE.replace("a,b,y", "\x1b[31ma,\x07b,\x1b]0;owned\x07y")), EITHER),
    ("right to left.csv", content(TABLE.replace("a,b,y", "\u202ea,\u202eb,\u202ey")), EITHER),
    ("infinite.csv", labelled(lambda i: "inf" if i % 5 == 0 else i), EITHER),
    ("all infinite.csv", labelled(lambda i: "inf" if i % 2 else "-inf"), EITHER),
    ("nan words.csv", labelled(lambda i: ["nan", "NA", "null", "#N/A", "-"][i % 5]), EITHER),
    ("huge numbers.csv", labelled(lambda i: f"{i}e300"), EITHER),
    ("beyond numbers.csv", labelled(lambda i: f"{i}e999"), EITHER),
    ("huge target.csv", lines(lambda i: f"{i},{i}e300"), EITHER),
    ("huge integers.csv", labelled(lambda i: str(10**40 + i)), EITHER),
    ("integer labels beside empty.csv", lines(lambda i: f"{i},{'' if i % 9 == 0 else 2**60 + i % 2}"), EITHER),
    ("infinite target.csv", lines(lambda i: f"{i},inf"), REFUSED),
    ("one class.csv", lines(lambda i: f"{i},yes"), REFUSED),
    ("all classes differ.csv", lines(lambda i: f"{i},w{i}"), REFUSED),
    ("rare class.csv", lines(lambda i: f"{i},{'rare' if i == 7 else 'often'}"), EITHER),
    ("ragged.csv", content("a,b,y\n" + "\n".join(",".join("1" * (1 + i % 6)) for i in range(60))), EITHER),
    ("open quote.csv", content('a,b,y\n1,"2,yes\n' + TABLE[6:]), EITHER),
    ("many quotes.csv", content('"' * 100_001 + "\n" + TABLE), EITHER),
    ("no separator.csv", content("\n".join(f"word{i}" for i in range(80))), EITHER),
    ("carriage returns.csv", content(TABLE.replace("\n", "\r")), EITHER),
    ("mixed ends.csv", content(TABLE.replace("no\n", "no\r\n")), EITHER),
    ("long line.csv", content("a," * 2_000_000 + "y\n1\n"), EITHER),
    ("very wide.csv", content(wide(20_000)), EITHER),
    ("hundred thousand columns.csv", content(wide(100_000)), EITHER),
    ("formula.csv", labelled(lambda i: "=cmd|' /C calc'!A0" if i % 2 else "@SUM(1)"), EITHER),
    ("markup.csv", content(TABLE.replace("a,b,y", "<script>alert(1)</script>,b,y")), EITHER),
    ("dates.csv", labelled(lambda i: f"{9999 + i}-13-45"), EITHER),
    ("prediction.csv", content(TABLE.replace("yes", "prediction")), FINE),
    ("python.csv", labelled(lambda _: "__import__('os').system('true')"), EITHER),
    ("same rows.csv", content("a,b,y\n" + "1,2,yes\n1,2,no\n" * 30), EITHER),
    ("name\nwith\tends.csv", content(TABLE), FINE),
    ("\x1b[31mname.csv", content(TABLE), FINE),
    ("-rf.csv", content(TABLE), FINE),
]
OTHERS: list[Hostile] = [
    ("noise.csv", content(noise(100_000, 0)), REFUSED),
    ("noise.parquet", content(noise(100_000, 1)), REFUSED),
    ("excel.csv", content(excel()), REFUSED),
    ("old office.csv", content(b"\xd0\xcf\x11\xe0" + noise(9_000, 2)), REFUSED),
    ("paper.csv", content(b"%PDF-1.7\n" + noise(9_000, 3)), REFUSED),
    ("hdf.csv", content(b"\x89HDF\r\n\x1a\n" + noise(9_000, 4)), REFUSED),
    ("page.csv", content("<!doctype html><html><body>404</body></html>"), REFUSED),
    ("records.json", content(json.dumps([{"a": 1, "y": 2}] * 60)), REFUSED),
    ("base.csv", sqlite_file, REFUSED),
    ("picture.csv", content(b"\x89PNG\r\n\x1a\n" + noise(5_000, 5)), REFUSED),
    ("pickle.csv", content(b"\x80\x04cos\nsystem\n(S'true'\ntR."), REFUSED),
    ("folder.csv", lambda path: path.mkdir(), REFUSED),
    ("missing.csv", lambda _: None, REFUSED),
    ("pipe.csv", fifo, REFUSED),
    ("link to itself.csv", lambda path: path.symlink_to(path), REFUSED),
    ("dangling.csv", lambda path: path.symlink_to("nowhere"), REFUSED),
    ("cut.parquet", content(GOOD_PARQUET[: len(GOOD_PARQUET) // 2]), REFUSED),
    ("footer.parquet", content(GOOD_PARQUET[:-8] + struct.pack("<i", 2**30) + b"PAR1"), REFUSED),
    ("flipped.parquet", content(GOOD_PARQUET[:40] + noise(60, 6) + GOOD_PARQUET[100:]), EITHER),
    ("nested.parquet", content(parquet_of(pd.DataFrame({"a": [[1, 2], [3]] * 30, "y": [0, 1] * 30}))), EITHER),
    ("bytes.parquet", content(parquet_of(pd.DataFrame({"a": [b"\xff", b"\x00"] * 30, "y": [0, 1] * 30}))), EITHER),
    ("no rows.parquet", content(parquet_of(FRAME[:0])), REFUSED),
    ("bomb.parquet", lambda path: (path.write_bytes(parquet_bomb()), None)[1], REFUSED),
    ("bomb in zip.zip", lambda p: (p.write_bytes(zipped({"b.parquet": parquet_bomb()}, method=0)), None)[1], REFUSED),
    ("bomb.zip", lambda path: (path.write_bytes(zip_bomb()), None)[1], REFUSED),
    ("bomb.csv.gz", lambda path: (path.write_bytes(gz_bomb()), None)[1], REFUSED),
    ("cut.csv.gz", content(gzip.compress(TABLE.encode())[:-20]), REFUSED),
    ("good.csv.bz2", content(bz2.compress(TABLE.encode())), FINE),
    ("cut.csv.xz", content(lzma.compress(TABLE.encode())[:-12]), REFUSED),
    ("two files.zip", content(zipped({"a.csv": TABLE.encode(), "b.csv": TABLE.encode()})), EITHER),
    ("no files.zip", content(zipped({})), REFUSED),
    ("outside.zip", content(zipped({"../../outside.csv": TABLE.encode()})), EITHER),
    ("zip in zip.zip", content(zipped({"in.zip": zipped({"a.csv": TABLE.encode()})})), EITHER),
    ("good.arff", content(ARFF + ARFF_ROWS), FINE),
    ("unknown level.arff", content(ARFF + ARFF_ROWS + "3,maybe\n"), EITHER),
    ("no data.arff", content(ARFF), REFUSED),
    ("broken.arff", content("@relation r\n@attribute\n@data\n1,2\n"), REFUSED),
    ("sparse.arff", content(ARFF + "{0 1, 1 yes}\n{0 2, 1 no}\n" * 30), EITHER),
    ("cut level.arff", content(ARFF.replace("no}", "no") + ARFF_ROWS), REFUSED),
]
DEVICES: list[tuple[str, tuple[int, ...]]] = [
    ("/dev/zero", REFUSED),
    ("/dev/urandom", REFUSED),
    ("/dev/null", REFUSED),
    ("/proc/self/mem", REFUSED),
    ("/dev/random", REFUSED),
]
