"""The exported file: a zip with a manifest and a Parquet table for each table of the knowledge base."""

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Table

from metaml_kb import schema, tables
from metaml_kb.dimensions import Rows
from metaml_kb.engine import explained, locate, make_engine
from metaml_kb.errors import BadTable, SchemaMismatch

FORMAT = "metaml-export-2"
# The first format kept the scores per fold as bytes.
READABLE = ("metaml-export-1", FORMAT)
CHUNK = 50_000
UNFINISHED = ".unfinished"
# An export unpacks to about five times its size. A small one of repeated values may unpack to more.
UNLIKELY_RATIO, SMALL = 100, 100_000_000
BYTES_PER_VALUE = 8
FOLD_SCORES = tables.run.c.fold_scores
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, LookupError),
    *(TypeError, ArithmeticError, RuntimeError, MemoryError),
)
"""What reading a damaged zip or Parquet file may raise."""
TABLES = [table for table in tables.metadata.sorted_tables if table.name != "knowledge_base"]


def arrow_schema(table: Table) -> Any:
    """Return the schema of the Parquet table for a table."""
    import pyarrow as pa

    kinds = {int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
    return pa.schema(
        [
            # Lists of numbers: any Parquet reader understands them, and they compress better than bytes.
            (column.name, pa.list_(pa.float64()) if column is FOLD_SCORES else kinds[column.type.python_type])
            for column in table.columns
        ]
    )


def arrow_column(rows: list[dict[str, Any]], field: Any) -> Any:
    """Return one column of rows as a column of Parquet."""
    import pyarrow as pa

    values = [row[field.name] for row in rows]
    if pa.types.is_list(field.type):
        values = [None if value is None else np.frombuffer(value, dtype="<f8") for value in values]
    return pa.array(values, type=field.type)


def leave_one_file(path: Path, *, with_log: bool = False) -> None:
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


def schema_of(path: Path) -> str:
    """Return the schema that an exported file was written with; raise unless this metaml can read it."""
    manifest: Any = {}
    try:
        with zipfile.ZipFile(path) as archive:
            # We store tables uncompressed in the zip: a zip that compresses them may unpack to any size.
            is_ours = all(part.compress_type == zipfile.ZIP_STORED for part in archive.infolist())
            if is_ours and "manifest.json" in archive.namelist():
                manifest = json.loads(archive.read("manifest.json"))
    except DAMAGE as error:
        raise damaged(path, "at its manifest", error) from None
    if not isinstance(manifest, dict) or manifest.get("format") not in READABLE:
        raise BadTable(f"{path.name} was not written by metaml kb export. For a csv table use: metaml kb import-table")
    found = str(manifest.get("schema"))
    if found != schema.HEAD and found not in schema.known_versions():
        raise SchemaMismatch(
            f"{path.name} has schema {found}, this metaml knows {schema.HEAD}. Run: pip install --upgrade metaml"
        )
    return found


def damaged(path: Path, where: str, error: BaseException) -> BadTable:
    """Return the error for an exported file that is damaged."""
    reason = str(error).strip().split("\n")[0] or type(error).__name__
    return BadTable(f"{path.name} is damaged {where} ({reason}). Ask for a new export.")


def archived_rows(archive: zipfile.ZipFile, table: Table, names: list[str], path: Path) -> Iterator[Rows]:
    """Yield the rows of a table of an archive, in chunks; raise `BadTable` if it unpacks to an unlikely size."""
    from pyarrow import parquet

    try:
        content = archive.read(f"{table.name}.parquet")
        metadata = parquet.read_metadata(io.BytesIO(content))
        most = SMALL + UNLIKELY_RATIO * len(content)
        n_bytes = _bytes_unpacked(metadata)
        if n_bytes <= most:
            columns = map(metadata.schema.column, range(metadata.num_columns))
            # Texts stay one number per row and one copy of each text, however often it is repeated.
            texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
            file = parquet.ParquetFile(io.BytesIO(content), metadata=metadata, read_dictionary=texts)
            for batch in file.iter_batches(batch_size=CHUNK, columns=names):
                n_bytes += sum(_bytes_repeated(column) for column in batch.columns)
                if n_bytes > most:
                    break
                yield list(zip(*(_plain_column(batch.column(name)) for name in names), strict=True))
    except DAMAGE as error:
        raise damaged(path, f"at table {table.name}", error) from None
    if n_bytes > most:
        raise BadTable(
            f"{path.name} is not what metaml kb export writes: its table {table.name} of {len(content) / 1e6:.1f} "
            f"megabytes unpacks to more than {most / 1e6:.0f} megabytes. Ask for a new export."
        )


def _bytes_unpacked(metadata: Any) -> float:
    """Return the bytes of a Parquet table in memory, texts that repeat counted once; infinite if that is unknown."""
    total = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(metadata.num_columns)):
            is_text = column.physical_type == "BYTE_ARRAY"
            is_nested = "." in column.path_in_schema
            # A text may also be stored as the beginning of the one before it, and so take no space at all.
            if (is_text and (is_nested or "DELTA_BYTE_ARRAY" in column.encodings)) or (
                not is_text and column.physical_type not in ("INT64", "DOUBLE")
            ):
                return float("inf")
            total += max(column.total_uncompressed_size, BYTES_PER_VALUE * column.num_values)
    return total


def _bytes_repeated(column: Any) -> int:
    """Return the bytes of all texts of a column that Parquet stores once; 0 if it is of another type."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_dictionary(column.type):
        return 0
    return compute.sum(compute.binary_length(column.dictionary).cast(pa.int64()).take(column.indices)).as_py() or 0


def _plain_column(column: Any) -> list[Any]:
    """Return a column as values for a database; a list of numbers becomes little-endian float64 bytes."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        texts = [*column.dictionary.to_pylist(), None]
        return [texts[place] for place in column.indices.fill_null(len(texts) - 1).to_pylist()]
    if not pa.types.is_list(column.type):
        return list(column.to_pylist())
    data = column.flatten().to_numpy(zero_copy_only=False).astype("<f8").tobytes()
    sizes = compute.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    ends = 8 * np.cumsum(sizes, dtype=np.int64)
    pieces = [data[start:end] for start, end in zip((ends - 8 * sizes).tolist(), ends.tolist(), strict=True)]
    return [piece if is_known else None for piece, is_known in zip(pieces, column.is_valid().to_pylist(), strict=True)]


def n_archived(path: Path, table: Table) -> int:
    """Return the number of rows of a table in an exported file, without reading them."""
    from pyarrow import parquet

    try:
        with zipfile.ZipFile(path) as archive:
            return int(parquet.ParquetFile(io.BytesIO(archive.read(f"{table.name}.parquet"))).metadata.num_rows)
    except DAMAGE as error:
        raise damaged(path, f"at table {table.name}", error) from None
