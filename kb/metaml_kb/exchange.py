"""One portable file: every table as Parquet inside a zip, or a SQLite file.

A private export leaves out what tells about the data and its owner (see `privacy`).

What came with the package as a starter is left out unless asked for: everyone has it.
"""

import io
import json
import tempfile
import time
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, Table, func, inspect, select, text, true
from sqlalchemy.exc import DataError, IntegrityError, InterfaceError, ProgrammingError

from metaml_kb import schema, tables
from metaml_kb.dimensions import Rows, insert_rows
from metaml_kb.engine import locate, make_engine, reading, writing
from metaml_kb.errors import BadTable, CannotOpen, KBError, SchemaMismatch
from metaml_kb.privacy import LEFT_OUT, Salt, private_rows
from metaml_kb.provenance import yours
from metaml_kb.sql import KnowledgeBase, open_kb
from metaml_kb.transfer import Merged, check_records, merge

FORMAT = "metaml-export-2"
# The first format kept the scores per fold as bytes.
READABLE = ("metaml-export-1", FORMAT)
CHUNK = 50_000
UNFINISHED = ".unfinished"
CLOCK_SECONDS = 0.1
"""The clock of a file system may be that much behind."""
ABANDONED_SECONDS = 3600.0
SQLITE_SUFFIXES = {".db", ".sqlite", ".sqlite3"}
TABLE_SUFFIXES = {".csv", ".tsv", ".json", ".jsonl", ".parquet", ".pq", ".arff", ".xlsx"}
FOLD_SCORES = tables.run.c.fold_scores
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, LookupError),
    *(TypeError, ArithmeticError, RuntimeError, MemoryError),
)
"""What reading a damaged zip or Parquet file may raise."""
UNFIT = (DataError, IntegrityError, InterfaceError, ProgrammingError)
"""What a database says of rows that do not fit its tables."""
TABLES = [table for table in tables.metadata.sorted_tables if table.name != "knowledge_base"]

Row = dict[str, Any]


def export(kb: KnowledgeBase, path: Path, *, private: bool = False, with_starter: bool = False, level: int = 3) -> int:
    """Write everything into one file and return its number of runs; the suffix .db asks for SQLite.

    A starter's runs, and the data sets that only they are about, are left out unless `with_starter`. A higher `level`
    (up to 22) makes a smaller file in more time.
    """
    if path.suffix.lower() in TABLE_SUFFIXES:
        raise CannotOpen(
            f"An export is no table, so {path.name} would be the wrong name for it. Choose one such as "
            f"{path.stem}.metaml, or write a table with: metaml kb runs --format csv > {path.stem}.csv"
        )
    if path.exists():
        raise CannotOpen(f"{path} exists already, and an export never overwrites. Choose another name.")
    if not path.parent.is_dir():
        raise CannotOpen(f"There is no folder {path.parent}. Make it, or choose another place.")
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with reading(kb.engine) as connection:
            contents = _contents(connection, private, with_starter)
            if path.suffix in SQLITE_SUFFIXES:
                _write_sqlite(unfinished, contents)
            else:
                _write_zip(unfinished, contents, private=private, level=level)
            counted = select(func.count()).select_from(tables.run).where(_kept(tables.run, with_starter))
            n_runs = int(connection.execute(counted).scalar_one())
        _forget_journal(path)
        unfinished.replace(path)
    except OSError as trouble:
        raise CannotOpen(f"{path} cannot be written ({trouble.strerror}). Choose another place.") from None
    finally:
        for leftover in path.parent.glob(f"{escape(unfinished.name)}*"):
            leftover.unlink()
    return n_runs


def import_file(kb: KnowledgeBase, path: Path, *, is_trusted: bool = False) -> Merged:
    """Merge an exported file, or another SQLite knowledge base, into this one.

    One that `is_trusted` goes into a new knowledge base without a look at each run.
    """
    check_import(path)
    is_zip = _is_zip(path)
    with tempfile.TemporaryDirectory() as folder:
        if not is_zip:
            place = schema.current_copy(path, Path(folder) / "copy.db")
        elif _is_new(kb) and _schema_of(path) == schema.HEAD:
            return _load_new(kb, path, is_trusted=is_trusted)
        else:
            place = Path(folder) / "import.db"
            _load_zip(path, place)
        with open_kb(place, create=False) as other:
            return merge(kb, other, name=path.name)


def check_import(path: Path) -> None:
    """Raise unless a file was written by an export, or is another SQLite knowledge base; touch nothing."""
    if _is_zip(path):
        _schema_of(path)
    else:
        schema.check_file(locate(path), create=False)


def _is_zip(path: Path) -> bool:
    """Return whether an exported file is a zip and not a SQLite file; raise if it is neither."""
    if not path.is_file():
        raise CannotOpen(f"There is no file {path}. Name one that was written by: metaml kb export")
    is_zip = zipfile.is_zipfile(path)
    header = schema.header_of(path)
    if not is_zip and header.startswith(schema.ZIP_MAGIC):
        raise BadTable(f"{path} begins as an exported file does, but its end is missing. Ask for a new export.")
    if not is_zip and not header.startswith(schema.SQLITE_MAGIC):
        raise BadTable(
            f"{path} is neither an exported file nor a knowledge base. "
            "A csv table of runs goes in with metaml kb import-table; a data set is for metaml tune."
        )
    return is_zip


def create_from(path: Path, file: Path, *, is_trusted: bool = False) -> None:
    """Make a knowledge base at a path that holds what an exported file holds; it appears whole or not at all.

    If another process is faster, its knowledge base stays. A file that `is_trusted` is loaded as it is.
    """
    for leftover in path.parent.glob(f"{escape(path.name)}.*{UNFINISHED}*"):
        # Another process may be at work here: what was there a moment ago may be gone.
        with suppress(FileNotFoundError):
            if leftover.stat().st_mtime < time.time() - ABANDONED_SECONDS:
                leftover.unlink()
    _forget_journal(path)
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}{UNFINISHED}")
    try:
        with open_kb(unfinished) as kb:
            import_file(kb, file, is_trusted=is_trusted)
        _leave_one_file(unfinished, with_log=True)
        _appear(unfinished, path)
    except KBError as trouble:
        # Nobody asked for the file under its passing name.
        raise type(trouble)(str(trouble).replace(str(unfinished), str(path))) from trouble
    finally:
        for leftover in path.parent.glob(f"{escape(unfinished.name)}*"):
            leftover.unlink(missing_ok=True)


def _forget_journal(path: Path) -> None:
    """Remove what a knowledge base that is gone left beside it: SQLite would play it back into the next of its name."""
    now = time.time()
    if path.exists():
        return
    for suffix in ("-wal", "-shm"):
        leftover = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError):
            # If another process makes a knowledge base here at this moment, its journal is newer.
            if leftover.stat().st_mtime < now - CLOCK_SECONDS:
                leftover.unlink()


def _appear(unfinished: Path, path: Path) -> None:
    """Give a finished file its name, unless there is one of that name by now."""
    try:
        # Unlike a renamed file, a link never takes the place of another.
        path.hardlink_to(unfinished)
    except FileExistsError:
        return
    except OSError:
        # There are file systems without links.
        if not path.exists():
            unfinished.rename(path)


def n_runs_in(path: Path) -> int:
    """Return the number of runs in an exported file, without reading them."""
    from pyarrow import parquet

    if not _is_zip(path):
        with open_kb(path, create=False) as kb:
            return int(kb.info()["runs"])
    _schema_of(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return int(parquet.ParquetFile(io.BytesIO(archive.read("run.parquet"))).metadata.num_rows)
    except DAMAGE as trouble:
        raise _damaged(path, "at table run", trouble) from None


def _is_new(kb: KnowledgeBase) -> bool:
    with reading(kb.engine) as connection:
        return not any(connection.execute(select(func.count()).select_from(table)).scalar() for table in TABLES)


# Writing


Contents = Iterator[tuple[Table, Iterator[list[Row]]]]


def _kept(table: Table, with_starter: bool) -> ColumnElement[bool]:
    return true() if with_starter else yours(table)


def _contents(connection: Connection, private: bool, with_starter: bool) -> Contents:
    """Yield each table with its rows in chunks."""
    salted = Salt(connection)
    if private:
        salted.number_runs(connection)
    for table in TABLES:
        if not (private and table.name in LEFT_OUT):
            query = select(table).where(_kept(table, with_starter)).order_by(*table.primary_key)
            yield table, _table_rows(connection, table, query, salted if private else None)


def _table_rows(connection: Connection, table: Table, query: Select[Any], salted: Salt | None) -> Iterator[list[Row]]:
    result = connection.execute(query)
    for partition in result.mappings().partitions(CHUNK):
        rows = [dict(row) for row in partition]
        yield private_rows(table, rows, salted) if salted else rows


def _write_zip(path: Path, contents: Contents, *, private: bool, level: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        manifest = {"format": FORMAT, "schema": schema.HEAD, "private": private}
        archive.writestr("manifest.json", json.dumps(manifest))
        for table, chunks in contents:
            layout = _arrow_schema(table)
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
                    writer.write_table(pa.table([_arrow_column(rows, field) for field in layout], schema=layout))
                writer.close()


def _arrow_schema(table: Table) -> Any:
    import pyarrow as pa

    kinds = {int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
    return pa.schema(
        [
            # Numbers that can be read by anyone, and that are packed better than bytes.
            (column.name, pa.list_(pa.float64()) if column is FOLD_SCORES else kinds[column.type.python_type])
            for column in table.columns
        ]
    )


def _arrow_column(rows: list[Row], field: Any) -> Any:
    import pyarrow as pa

    values = [row[field.name] for row in rows]
    if pa.types.is_list(field.type):
        values = [None if value is None else np.frombuffer(value, dtype="<f8") for value in values]
    return pa.array(values, type=field.type)


def _write_sqlite(path: Path, contents: Contents) -> None:
    with open_kb(path) as copy, writing(copy.engine) as target:
        for table, chunks in contents:
            for rows in chunks:
                names = list(table.c.keys())
                insert_rows(target, table, names, [tuple(row[name] for name in names) for row in rows])
    _leave_one_file(path)


def _leave_one_file(path: Path, *, with_log: bool = False) -> None:
    """Bring what stands in the write-ahead log of a SQLite file into the file; `with_log` it will have one again."""
    engine = make_engine(locate(path))
    with engine.connect() as raw:
        raw.exec_driver_sql("COMMIT")
        raw.exec_driver_sql("PRAGMA journal_mode=DELETE")
        if with_log:
            raw.exec_driver_sql("PRAGMA journal_mode=WAL")
    engine.dispose()


# Reading


def _schema_of(path: Path) -> str:
    """Return the schema that an exported file was written with; raise unless this metaml can read it."""
    manifest: Any = {}
    try:
        with zipfile.ZipFile(path) as archive:
            # Our tables are packed by themselves: a zip that packs them, too, may unfold to any size.
            is_ours = all(part.compress_type == zipfile.ZIP_STORED for part in archive.infolist())
            if is_ours and "manifest.json" in archive.namelist():
                manifest = json.loads(archive.read("manifest.json"))
    except DAMAGE as trouble:
        raise _damaged(path, "at its manifest", trouble) from None
    if not isinstance(manifest, dict) or manifest.get("format") not in READABLE:
        raise BadTable(f"{path.name} was not written by metaml kb export. For a csv table use: metaml kb import-table")
    found = str(manifest.get("schema"))
    if found != schema.HEAD and found not in schema.known_versions():
        raise SchemaMismatch(
            f"{path.name} has schema {found}, this metaml knows {schema.HEAD}. Run: pip install --upgrade metaml"
        )
    return found


def _damaged(path: Path, where: str, trouble: BaseException) -> BadTable:
    said = str(trouble).strip().split("\n")[0] or type(trouble).__name__
    return BadTable(f"{path.name} is damaged {where} ({said}). Ask for a new export.")


def _load_new(kb: KnowledgeBase, path: Path, *, is_trusted: bool) -> Merged:
    """Fill a knowledge base that is still empty, table by table."""
    with zipfile.ZipFile(path) as archive, writing(kb.engine) as connection:
        _insert_archive(connection, archive, path)
        if not is_trusted:
            check_records(connection, path.name)
        counts = [
            int(connection.execute(select(func.count()).select_from(table)).scalar_one())
            for table in (tables.dataset, tables.run)
        ]
    return Merged(counts[0], counts[1], 0, ())


def _load_zip(path: Path, place: Path) -> None:
    """Lay an exported file out as a SQLite knowledge base of the schema it was written with."""
    from alembic import command

    found = _schema_of(path)
    with zipfile.ZipFile(path) as archive:
        engine = make_engine(locate(place))
        try:
            with writing(engine) as connection:
                config = schema.alembic_config()
                config.attributes["connection"] = connection
                command.upgrade(config, found)
                _insert_archive(connection, archive, path)
            schema.upgrade(engine)
        finally:
            engine.dispose()


def _insert_archive(connection: Connection, archive: zipfile.ZipFile, path: Path) -> None:
    """Insert the rows of every table of an archive; the columns are those the database has."""
    present = set(archive.namelist())
    inspector = inspect(connection)
    for table in TABLES:
        if f"{table.name}.parquet" not in present or not inspector.has_table(table.name):
            continue
        names = [column["name"] for column in inspector.get_columns(table.name)]
        for rows in _archived_rows(archive, table, names, path):
            try:
                insert_rows(connection, table, names, rows)
            except UNFIT as trouble:
                raise _damaged(path, f"at table {table.name}", trouble.orig or trouble) from None
    connection.execute(text("UPDATE knowledge_base SET revision = revision + 1"))


def _archived_rows(archive: zipfile.ZipFile, table: Table, names: list[str], path: Path) -> Iterator[Rows]:
    """Yield the rows of a table of an archive, in chunks."""
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(archive.read(f"{table.name}.parquet")))
        for batch in file.iter_batches(batch_size=CHUNK, columns=names):
            yield list(zip(*(_plain_column(batch.column(name)) for name in names), strict=True))
    except DAMAGE as trouble:
        raise _damaged(path, f"at table {table.name}", trouble) from None


def _plain_column(column: Any) -> list[Any]:
    """Return a column as the values that a database takes; a list of numbers becomes its bytes."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_list(column.type):
        return list(column.to_pylist())
    data = column.flatten().to_numpy(zero_copy_only=False).astype("<f8").tobytes()
    sizes = compute.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    ends = 8 * np.cumsum(sizes, dtype=np.int64)
    pieces = [data[start:end] for start, end in zip((ends - 8 * sizes).tolist(), ends.tolist(), strict=True)]
    return [piece if is_known else None for piece, is_known in zip(pieces, column.is_valid().to_pylist(), strict=True)]
