"""Import third-party tables of metafeatures, with one row per data set."""

import math
from pathlib import Path

from metaml_kb.errors import BadTable
from metaml_kb.records import DatasetRecord
from metaml_kb.sql import KnowledgeBase
from metaml_kb.table_import.cells import read_name, read_number
from metaml_kb.table_import.file import TableFile, open_table
from metaml_kb.table_import.runs import ImportReport


def import_metafeatures(
    kb: KnowledgeBase,
    path: Path,
    *,
    dataset_column: str,
    dataset_prefix: str = "",
    source: str = "openml",
    ignore_columns: tuple[str, ...] = (),
    separator: str | None = None,
) -> ImportReport:
    """Store a table with one row per data set and one column per metafeature; return what happened to its values.

    - `dataset_column`: names the data set; it is stored as `dataset_prefix` + the cell.
    - `source`: who measured the metafeatures.
    - `ignore_columns`: left out. All other columns are metafeatures.
    - `separator`: default: detected from the first line.

    An empty cell is stored as undefined. A known value stays. Raises `BadTable` if the table has an error.
    """
    table = open_table(path, separator)
    names = metafeatures_in(table, dataset_column, ignore_columns)
    rows, n_rows = _metafeature_rows(table, dataset_column, names)
    known = kb.metafeatures(source=source)
    n_new = n_known = n_clashes = 0
    session = kb.start_session("import", settings={"file": path.name, "dataset_column": dataset_column})
    for cell, values in rows.items():
        name = dataset_prefix + cell
        fingerprint = f"name:{name}"
        stored = known.loc[fingerprint].dropna().to_dict() if fingerprint in known.index else {}
        given = {key: value for key, value in values.items() if not math.isnan(value)}
        n_new += len(given.keys() - stored.keys())
        n_known += len(given.keys() & stored.keys())
        n_clashes += sum(not math.isclose(stored[key], given[key]) for key in given.keys() & stored.keys())
        reasons = dict.fromkeys(values.keys() - given.keys(), f"{path.name} has no value.")
        kb.add_dataset(DatasetRecord(fingerprint, name, source="import"))
        kb.add_metafeatures(fingerprint, values, source=source, reasons=reasons)
    kb.finish_session(session)
    notes = [f"{len(names)} metafeatures of {len(rows)} data sets were stored with the source {source!r}."]
    if n_clashes:
        notes.append(f"{n_clashes:,} values are known with another value, which was kept.")
    return ImportReport(
        n_rows=n_rows,
        n_new=n_new,
        n_known=n_known,
        n_duplicates=n_rows - len(rows),
        n_clashes=n_clashes,
        datasets=tuple(dataset_prefix + cell for cell in rows),
        notes=tuple(notes),
    )


def metafeatures_in(table: TableFile, dataset_column: str, ignore_columns: tuple[str, ...] = ()) -> list[str]:
    """Return the columns of a table that are metafeatures. Raises `BadTable` if a named column is missing."""
    table.require(dataset_column, "--dataset-column")
    for column in ignore_columns:
        table.require(column, "--ignore-column")
    names = [name for name in table.columns if name and name != dataset_column and name not in ignore_columns]
    if not names:
        raise BadTable(f"{table.path.name} has no column besides the data set. Give a table with metafeatures in it.")
    return names


def _metafeature_rows(
    table: TableFile, dataset_column: str, names: list[str]
) -> tuple[dict[str, dict[str, float]], int]:
    """Return the values of each data set's first row, NaN for an empty cell, and the number of rows."""
    rows: dict[str, dict[str, float]] = {}
    n_rows = 0
    for chunk in table.chunks():
        columns = {name: chunk.read(name, read_number) for name in names}
        for row, cell in enumerate(chunk.read(dataset_column, read_name)):
            n_rows += 1
            values = {name: column[row] for name, column in columns.items()}
            rows.setdefault(cell, {name: math.nan if v is None else v for name, v in values.items()})
    return rows, n_rows
