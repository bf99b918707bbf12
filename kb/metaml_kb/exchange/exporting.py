"""Export a knowledge base into one portable file: a zip of Parquet tables, or a SQLite file.

A private export hides the data and its owner (see `privacy`). An export leaves out the starter, the runs that come with
the package, unless asked: everyone has them.
"""

import json
import zipfile
from collections.abc import Collection, Iterator
from glob import escape
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, func, select, true

from metaml_kb import schema, tables
from metaml_kb.dimensions import insert_rows
from metaml_kb.engine import reading, writing
from metaml_kb.errors import CannotOpen
from metaml_kb.exchange.archive import CHUNK, FORMAT, TABLES, UNFINISHED, arrow_column, arrow_schema, leave_one_file
from metaml_kb.files import forget_journal
from metaml_kb.privacy import LEFT_OUT, Salt, private_rows
from metaml_kb.provenance import yours
from metaml_kb.sql import KnowledgeBase, open_kb

SQLITE_SUFFIXES = {".db", ".sqlite", ".sqlite3"}
TABLE_SUFFIXES = {".csv", ".tsv", ".json", ".jsonl", ".parquet", ".pq", ".arff", ".xlsx"}

Row = dict[str, Any]
Contents = Iterator[tuple[Table, Iterator[list[Row]]]]


def export(
    kb: KnowledgeBase,
    path: Path,
    *,
    private: bool = False,
    public_words: Collection[str] = (),
    with_starter: bool = False,
    level: int = 3,
) -> int:
    """Write a knowledge base into one new file and return the number of runs in it.

    - `path`: the suffixes .db, .sqlite and .sqlite3 give a SQLite file, any other a zip of Parquet tables.
    - `private`: hide the data and its owner (see `metaml_kb.privacy`).
    - `public_words`: names of proposers and of sources of metafeatures that a private export may show. All other names
      are salted, so without words it shows none.
    - `with_starter`: also write the runs that came with the package, and the data sets that only they use.
    - `level`: compression of the zip, from 1 to 22. Higher is smaller and slower.

    Raises `CannotOpen` if the file exists, has the suffix of a table (such as .csv), or cannot be written.
    """
    if path.suffix.lower() in TABLE_SUFFIXES:
        raise CannotOpen(
            f"An export is not a table, so {path.name} is the wrong name for it. Choose one such as "
            f"{path.stem}.metaml, or write a table with: metaml kb runs --format csv > {path.stem}.csv"
        )
    if path.exists():
        raise CannotOpen(f"{path} exists already, and an export never overwrites a file. Choose another name.")
    if not path.parent.is_dir():
        raise CannotOpen(f"There is no folder {path.parent}. Create it, or choose another place.")
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with reading(kb.engine) as connection:
            salt = Salt.of(connection, public_words) if private else None
            contents = _contents(connection, salt, with_starter)
            if path.suffix in SQLITE_SUFFIXES:
                _write_sqlite(unfinished, contents)
            else:
                _write_zip(unfinished, contents, private=private, level=level)
            counted = select(func.count()).select_from(tables.run).where(_kept(tables.run, with_starter))
            n_runs = int(connection.execute(counted).scalar_one())
        forget_journal(path)
        unfinished.replace(path)
    except OSError as error:
        raise CannotOpen(f"{path} cannot be written ({error.strerror}). Choose another place.") from None
    finally:
        for leftover in path.parent.glob(f"{escape(unfinished.name)}*"):
            leftover.unlink()
    return n_runs


def _kept(table: Table, with_starter: bool) -> ColumnElement[bool]:
    return true() if with_starter else yours(table)


def _contents(connection: Connection, salt: Salt | None, with_starter: bool) -> Contents:
    """Yield each table with its rows in chunks; with a salt, as a private export shows them."""
    if salt is not None:
        salt.number_runs(connection)
    for table in TABLES:
        if salt is None or table.name not in LEFT_OUT:
            query = select(table).where(_kept(table, with_starter)).order_by(*table.primary_key)
            yield table, _table_rows(connection, table, query, salt)


def _table_rows(connection: Connection, table: Table, query: Select[Any], salt: Salt | None) -> Iterator[list[Row]]:
    result = connection.execute(query)
    for partition in result.mappings().partitions(CHUNK):
        rows = [dict(row) for row in partition]
        yield private_rows(table, rows, salt) if salt is not None else rows


def _write_zip(path: Path, contents: Contents, *, private: bool, level: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        manifest = {"format": FORMAT, "schema": schema.HEAD, "private": private}
        archive.writestr("manifest.json", json.dumps(manifest))
        for table, chunks in contents:
            layout = arrow_schema(table)
            numbers = [field.name for field in layout if field.type == pa.float64()]
            numbers += [f"{field.name}.list.element" for field in layout if pa.types.is_list(field.type)]
            with archive.open(f"{table.name}.parquet", "w", force_zip64=True) as file:
                writer = parquet.ParquetWriter(
                    pa.PythonFile(file, mode="w"),
                    layout,
                    compression="zstd",
                    compression_level=level,
                    use_dictionary=[name for name in layout.names if name not in numbers],
                    use_byte_stream_split=numbers,
                )
                for rows in chunks:
                    writer.write_table(pa.table([arrow_column(rows, field) for field in layout], schema=layout))
                writer.close()


def _write_sqlite(path: Path, contents: Contents) -> None:
    with open_kb(path) as copy, writing(copy.engine) as target:
        for table, chunks in contents:
            for rows in chunks:
                names = list(table.c.keys())
                insert_rows(target, table, names, [tuple(row[name] for name in names) for row in rows])
    leave_one_file(path)
