"""Export to one portable file and import it again: a zip of Parquet tables, or a SQLite file.

A private export hides the data and its owner (see `privacy`). An export leaves out the starter, the runs that come with
the package, unless asked: everyone has them.
"""

import io
import json
import tempfile
import time
import uuid
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, Table, func, inspect, select, text, true
from sqlalchemy.exc import DataError, IntegrityError, InterfaceError, ProgrammingError

from metaml_kb import schema, tables
from metaml_kb.dimensions import Rows, insert_rows
from metaml_kb.engine import explained, locate, make_engine, reading, writing
from metaml_kb.errors import BadTable, CannotOpen, KBError, SchemaMismatch
from metaml_kb.files import appear, forget_journal
from metaml_kb.privacy import LEFT_OUT, Salt, private_rows
from metaml_kb.provenance import yours
from metaml_kb.sql import KnowledgeBase, open_kb
from metaml_kb.transfer import Merged, check_records, merge

FORMAT = "metaml-export-2"
# The first format kept the scores per fold as bytes.
READABLE = ("metaml-export-1", FORMAT)
CHUNK = 50_000
UNFINISHED = ".unfinished"
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
"""What a database raises for rows that do not fit its tables."""
TABLES = [table for table in tables.metadata.sorted_tables if table.name != "knowledge_base"]

Row = dict[str, Any]


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
            salt = Salt(connection, public_words) if private else None
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


def import_file(kb: KnowledgeBase, path: Path, *, is_trusted: bool = False) -> Merged:
    """Merge an exported file, or another SQLite knowledge base, into this one; return what was new.

    Every run is checked before it is stored. With `is_trusted`, a zip that goes into an empty knowledge base is loaded
    without that check.

    Raises `CannotOpen` if there is no such file, `BadTable` if it is damaged or not an export, `SchemaMismatch` if a
    newer metaml wrote it, and `BadRecord` if it holds a run that cannot be stored. Then nothing of it is stored.
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
    """Raise unless a file is an export or a SQLite knowledge base. Nothing is read in or changed."""
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
        raise BadTable(f"{path} begins like an exported file, but its end is missing. Ask for a new export.")
    if not is_zip and not header.startswith(schema.SQLITE_MAGIC):
        raise BadTable(
            f"{path} is neither an exported file nor a knowledge base. "
            "A csv table of runs goes in with metaml kb import-table; a data set is for metaml tune."
        )
    return is_zip


def create_from(path: Path, file: Path, *, is_trusted: bool = False) -> None:
    """Create a knowledge base at a path from an exported file, either completely or not at all.

    If another process creates one there first, that one stays. With `is_trusted`, the runs are loaded without a check.
    """
    for leftover in path.parent.glob(f"{escape(path.name)}.*{UNFINISHED}*"):
        # Another process may remove the file between the listing and this line.
        with suppress(FileNotFoundError):
            if leftover.stat().st_mtime < time.time() - ABANDONED_SECONDS:
                leftover.unlink()
    forget_journal(path)
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}{UNFINISHED}")
    try:
        with open_kb(unfinished) as kb:
            import_file(kb, file, is_trusted=is_trusted)
        _leave_one_file(unfinished, with_log=True)
        appear(unfinished, path)
    except KBError as error:
        # The user knows the path, not the temporary name.
        raise type(error)(str(error).replace(str(unfinished), str(path))) from error
    finally:
        for leftover in path.parent.glob(f"{escape(unfinished.name)}*"):
            leftover.unlink(missing_ok=True)


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
    except DAMAGE as error:
        raise _damaged(path, "at table run", error) from None


def _is_new(kb: KnowledgeBase) -> bool:
    with reading(kb.engine) as connection:
        return not any(connection.execute(select(func.count()).select_from(table)).scalar() for table in TABLES)


# Writing


Contents = Iterator[tuple[Table, Iterator[list[Row]]]]


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
            # Lists of numbers: any Parquet reader understands them, and they compress better than bytes.
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
    """Move the write-ahead log of a SQLite file into the file itself; `with_log` starts a new log afterwards."""
    engine = make_engine(locate(path))
    try:
        # Here the file grows, so that the disk may be full.
        with explained(engine.url), engine.connect() as raw:
            raw.exec_driver_sql("COMMIT")
            raw.exec_driver_sql("PRAGMA journal_mode=DELETE")
            if with_log:
                raw.exec_driver_sql("PRAGMA journal_mode=WAL")
    finally:
        engine.dispose()


# Reading


def _schema_of(path: Path) -> str:
    """Return the schema that an exported file was written with; raise unless this metaml can read it."""
    manifest: Any = {}
    try:
        with zipfile.ZipFile(path) as archive:
            # We store tables uncompressed in the zip: a zip that compresses them may unpack to any size.
            is_ours = all(part.compress_type == zipfile.ZIP_STORED for part in archive.infolist())
            if is_ours and "manifest.json" in archive.namelist():
                manifest = json.loads(archive.read("manifest.json"))
    except DAMAGE as error:
        raise _damaged(path, "at its manifest", error) from None
    if not isinstance(manifest, dict) or manifest.get("format") not in READABLE:
        raise BadTable(f"{path.name} was not written by metaml kb export. For a csv table use: metaml kb import-table")
    found = str(manifest.get("schema"))
    if found != schema.HEAD and found not in schema.known_versions():
        raise SchemaMismatch(
            f"{path.name} has schema {found}, this metaml knows {schema.HEAD}. Run: pip install --upgrade metaml"
        )
    return found


def _damaged(path: Path, where: str, error: BaseException) -> BadTable:
    reason = str(error).strip().split("\n")[0] or type(error).__name__
    return BadTable(f"{path.name} is damaged {where} ({reason}). Ask for a new export.")


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
    """Unpack an exported file into a SQLite knowledge base of its own schema, then upgrade that."""
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
    """Insert the rows of every table of an archive; only columns that the database has are read."""
    present = set(archive.namelist())
    inspector = inspect(connection)
    for table in TABLES:
        if f"{table.name}.parquet" not in present or not inspector.has_table(table.name):
            continue
        names = [column["name"] for column in inspector.get_columns(table.name)]
        for rows in _archived_rows(archive, table, names, path):
            try:
                insert_rows(connection, table, names, rows)
            except UNFIT as error:
                raise _damaged(path, f"at table {table.name}", error.orig or error) from None
    connection.execute(text("UPDATE knowledge_base SET revision = revision + 1"))


def _archived_rows(archive: zipfile.ZipFile, table: Table, names: list[str], path: Path) -> Iterator[Rows]:
    """Yield the rows of a table of an archive, in chunks."""
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(archive.read(f"{table.name}.parquet")))
        for batch in file.iter_batches(batch_size=CHUNK, columns=names):
            yield list(zip(*(_plain_column(batch.column(name)) for name in names), strict=True))
    except DAMAGE as error:
        raise _damaged(path, f"at table {table.name}", error) from None


def _plain_column(column: Any) -> list[Any]:
    """Return a column as values for a database; a list of numbers becomes little-endian float64 bytes."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_list(column.type):
        return list(column.to_pylist())
    data = column.flatten().to_numpy(zero_copy_only=False).astype("<f8").tobytes()
    sizes = compute.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    ends = 8 * np.cumsum(sizes, dtype=np.int64)
    pieces = [data[start:end] for start, end in zip((ends - 8 * sizes).tolist(), ends.tolist(), strict=True)]
    return [piece if is_known else None for piece, is_known in zip(pieces, column.is_valid().to_pylist(), strict=True)]
