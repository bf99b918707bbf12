"""Import an exported file, or another SQLite knowledge base, into a knowledge base, or make a new one from it."""

import tempfile
import time
import uuid
import zipfile
from contextlib import suppress
from glob import escape
from pathlib import Path

from sqlalchemy import Connection, func, inspect, select, text
from sqlalchemy.exc import DataError, IntegrityError, InterfaceError, ProgrammingError

from metaml_kb import schema, tables
from metaml_kb.dimensions import insert_rows
from metaml_kb.engine import explained, locate, make_engine, reading, writing
from metaml_kb.errors import BadTable, CannotOpen, KBError
from metaml_kb.exchange.archive import (
    TABLES,
    UNFINISHED,
    archived_rows,
    damaged,
    leave_one_file,
    n_archived,
    schema_of,
)
from metaml_kb.files import appear, forget_journal
from metaml_kb.sql import KnowledgeBase, open_kb
from metaml_kb.transfer import Merged, check_records, merge

ABANDONED_SECONDS = 3600.0
UNFIT = (DataError, IntegrityError, InterfaceError, ProgrammingError)
"""What a database raises for rows that do not fit its tables."""


def import_file(kb: KnowledgeBase, path: Path) -> Merged:
    """Merge an exported file, or another SQLite knowledge base, into this one; return what was new.

    Every run is checked before it is stored.

    Raises `CannotOpen` if there is no such file, `BadTable` if it is damaged or not an export, `SchemaMismatch` if a
    newer metaml wrote it, and `BadRecord` if it holds a run that cannot be stored. Then nothing of it is stored.
    """
    check_import(path)
    is_zip = _is_zip(path)
    with tempfile.TemporaryDirectory() as folder:
        if not is_zip:
            place = schema.current_copy(path, Path(folder) / "copy.db")
        elif _is_new(kb) and schema_of(path) == schema.HEAD:
            return _load_new(kb, path)
        else:
            place = Path(folder) / "import.db"
            _load_zip(path, place)
        with open_kb(place, create=False) as other:
            return merge(kb, other, name=path.name)


def check_import(path: Path) -> None:
    """Raise unless a file is an export or a SQLite knowledge base. Nothing is read in or changed."""
    if _is_zip(path):
        schema_of(path)
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
        if _is_zip(file):
            _load_zip(file, unfinished)
            if not is_trusted:
                _check_all(unfinished, file.name)
        else:
            with open_kb(unfinished) as kb:
                import_file(kb, file)
        leave_one_file(unfinished, with_log=True)
        appear(unfinished, path)
    except KBError as error:
        # The user knows the path, not the temporary name.
        raise type(error)(str(error).replace(str(unfinished), str(path))) from error
    finally:
        for leftover in path.parent.glob(f"{escape(unfinished.name)}*"):
            leftover.unlink(missing_ok=True)


def n_runs_in(path: Path) -> int:
    """Return the number of runs in an exported file, without reading them."""
    if not _is_zip(path):
        with open_kb(path, create=False) as kb:
            return int(kb.info()["runs"])
    schema_of(path)
    return n_archived(path, tables.run)


def _is_new(kb: KnowledgeBase) -> bool:
    with reading(kb.engine) as connection:
        return not any(connection.execute(select(func.count()).select_from(table)).scalar() for table in TABLES)


def _check_all(place: Path, name: str) -> None:
    """Raise `BadRecord` unless every record of a knowledge base, made from a file of this name, can be stored."""
    with open_kb(place, create=False) as kb, reading(kb.engine) as connection:
        check_records(connection, name)


def _load_new(kb: KnowledgeBase, path: Path) -> Merged:
    """Fill a knowledge base that is still empty, table by table."""
    with zipfile.ZipFile(path) as archive, writing(kb.engine) as connection:
        _insert_archive(connection, archive, path)
        check_records(connection, path.name)
        counts = [
            int(connection.execute(select(func.count()).select_from(table)).scalar_one())
            for table in (tables.dataset, tables.run)
        ]
    return Merged(counts[0], counts[1], 0, ())


def _load_zip(path: Path, place: Path) -> None:
    """Make a SQLite knowledge base of an exported file: table by table in its own schema, then upgraded."""
    found = schema_of(path)
    if found == schema.HEAD:
        with zipfile.ZipFile(path) as archive, open_kb(place) as kb, writing(kb.engine) as connection:
            _insert_archive(connection, archive, path)
        return
    from alembic import command

    url = locate(place)
    with zipfile.ZipFile(path) as archive, explained(url):
        engine = make_engine(url)
        try:
            with writing(engine) as connection:
                config = schema.alembic_config()
                config.attributes["connection"] = connection
                command.upgrade(config, found)
                _insert_archive(connection, archive, path)
            schema.upgrade(engine, with_backup=False)
            with writing(engine) as connection:
                schema.give_identity(connection)
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
        for rows in archived_rows(archive, table, names, path):
            try:
                insert_rows(connection, table, names, rows)
            except UNFIT as error:
                raise damaged(path, f"at table {table.name}", error.orig or error) from None
    connection.execute(text("UPDATE knowledge_base SET revision = revision + 1"))
