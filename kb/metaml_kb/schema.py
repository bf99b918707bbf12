"""The version of the schema: create a new knowledge base, check one, upgrade an old one after a backup."""

import io
import secrets
import sqlite3
import time
import uuid
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Dialect, Engine, inspect, text
from sqlalchemy.engine import URL
from sqlalchemy.schema import CreateIndex, CreateTable

from metaml_kb.engine import display_name, explained, locate, make_engine, sqlite_path, writing
from metaml_kb.errors import CannotOpen, SchemaMismatch
from metaml_kb.tables import create_views, drop_views, knowledge_base, metadata

if TYPE_CHECKING:
    from alembic.config import Config

SQLITE_MAGIC = b"SQLite format 3\x00"
ZIP_MAGIC = b"PK\x03\x04"
HEADER_BYTES = 100
WRITE_VERSION = 18
"""The byte in the header of a SQLite file that says how it is written; 2 means with a write-ahead log."""
WITH_LOG = b"\x02"
_compiled: dict[str, Sequence[str]] = {}
"""What creates the tables and their indexes, by the name of a kind of database."""


def migrations_folder() -> Path:
    """Return the folder of the migrations: beside this file when installed, two folders up in a checkout."""
    here = Path(__file__).resolve()
    installed = here.parent / "migrations"
    return installed if installed.is_dir() else here.parents[2] / "migrations"


def newest_version() -> str:
    """Return the version that the newest migration makes: what its file name begins with."""
    return max(path.name.partition("_")[0] for path in (migrations_folder() / "versions").glob("[0-9]*.py"))


HEAD = newest_version()
"""The version of `metaml_kb.tables`."""


def check_file(url: URL, *, create: bool) -> None:
    """Raise `CannotOpen` unless the file of a SQLite URL can be a knowledge base. The file is not changed.

    With `create`, the file may be missing; its folder is then created.
    """
    path = sqlite_path(url)
    if path is None:
        return
    if path.is_dir():
        raise CannotOpen(f"{path} is a folder. Name a file in it, for example {path / 'kb.db'}.")
    if not path.exists():
        if not create:
            raise CannotOpen(f"There is no knowledge base at {path}. Make one with: metaml kb init --kb {path}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotOpen(
                f"The folder {path.parent} cannot be created ({error.strerror}). Choose another place with --kb."
            ) from None
        return
    header = header_of(path)
    if not header and not create:
        raise CannotOpen(_is_empty(str(path)))
    if header.startswith(ZIP_MAGIC):
        raise CannotOpen(f"{path} is an exported file or another zip. Bring an export in with: metaml kb import {path}")
    if header and not header.startswith(SQLITE_MAGIC):
        raise CannotOpen(f"{path} is not a metaml knowledge base. Name another file with --kb.")
    # A file without a write-ahead log can be read without changing it, so we can refuse another program's file at once.
    if header and header[WRITE_VERSION : WRITE_VERSION + 1] != WITH_LOG and _is_foreign(path):
        raise CannotOpen(_is_other(str(path)))


def header_of(path: Path) -> bytes:
    """Return the first 100 bytes of a file, enough to recognise a SQLite file or a zip."""
    try:
        with path.open("rb") as file:
            return file.read(HEADER_BYTES)
    except OSError as error:
        raise CannotOpen(f"{path} cannot be read ({error.strerror}). Check its permissions.") from None


def _is_foreign(path: Path) -> bool:
    """Return whether a SQLite file has tables, but none of ours; False if it cannot be read, as opening will show."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except (sqlite3.Error, UnicodeDecodeError):
        return False
    return bool(names) and knowledge_base.name not in names


def _is_empty(name: str) -> str:
    return f"{name} is empty. Make a knowledge base there with: metaml kb init --kb {name}"


def _is_other(name: str) -> str:
    return f"{name} is a database, but not a metaml knowledge base. Choose another with --kb."


def version(connection: Connection) -> str | None:
    """Return the schema version of an open database; None if it has none."""
    names = inspect(connection).get_table_names()
    if "alembic_version" not in names:
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def create(engine: Engine) -> None:
    """Create the tables of the newest schema, unless another process has already done so."""
    with writing(engine) as connection:
        if version(connection) is not None:
            return
        for definition in _definitions(connection.dialect):
            connection.exec_driver_sql(definition)
        create_views(connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
        give_identity(connection)


def _definitions(dialect: Dialect) -> Sequence[str]:
    """Return the SQL that creates the tables and their indexes. Compiling it takes longer than running it."""
    if dialect.name not in _compiled:
        makers: list[CreateTable | CreateIndex] = [CreateTable(table) for table in metadata.sorted_tables]
        makers += [CreateIndex(index) for table in metadata.sorted_tables for index in table.indexes]
        _compiled[dialect.name] = [str(maker.compile(dialect=dialect)) for maker in makers]
    return _compiled[dialect.name]


def give_identity(connection: Connection) -> None:
    """Store the key by which a new knowledge base is told from others."""
    connection.execute(
        knowledge_base.insert(),
        {
            "id": 1,
            "key": uuid.uuid4().hex,
            "created_at": time.time(),
            "revision": 0,
            "salt": secrets.token_hex(16),
        },
    )


def prepare(engine: Engine, *, create_missing: bool) -> None:
    """Check that the database has the schema this code expects; otherwise raise an error that says what to do."""
    name = display_name(engine.url)
    with explained(engine.url), engine.connect() as connection, connection.begin():
        found = version(connection)
        is_empty = found is None and not inspect(connection).get_table_names()
    if found == HEAD:
        return
    if found is None and is_empty and create_missing:
        create(engine)
    elif found is None and is_empty:
        raise CannotOpen(_is_empty(name))
    elif found is None:
        raise CannotOpen(_is_other(name))
    elif found > HEAD:
        raise SchemaMismatch(f"{name} has schema {found}, this metaml knows {HEAD}. Run: pip install --upgrade metaml")
    else:
        raise SchemaMismatch(f"{name} has schema {found}, this metaml expects {HEAD}. Run: metaml kb upgrade {name}")


def alembic_config(folder: Path | None = None) -> "Config":
    """Return Alembic's configuration for our migrations."""
    from alembic.config import Config

    # Hide Alembic's output: our own messages say the same.
    config = Config(stdout=io.StringIO(), output_buffer=io.StringIO())
    config.set_main_option("script_location", str(folder or migrations_folder()).replace("%", "%%"))
    return config


def known_versions(folder: Path | None = None) -> set[str]:
    """Return all versions of the schema so far."""
    from alembic.script import ScriptDirectory

    return {revision.revision for revision in ScriptDirectory.from_config(alembic_config(folder)).walk_revisions()}


def upgrade(engine: Engine, folder: Path | None = None, *, with_backup: bool = True) -> str | None:
    """Upgrade an old knowledge base to the newest schema, after a backup; a copy that is nobody's only one needs none.

    Return where the backup is, or None if there is none or the schema was already the newest. Raises `CannotOpen` if it
    is not a knowledge base, and `SchemaMismatch` if a newer metaml wrote it.
    """
    from alembic import command
    from alembic.script import ScriptDirectory

    config = alembic_config(folder)
    script = ScriptDirectory.from_config(config)
    head = script.get_current_head()
    name = display_name(engine.url)
    with explained(engine.url), engine.connect() as connection, connection.begin():
        found = version(connection)
    if found == head:
        return None
    if found is None:
        raise CannotOpen(f"{name} is not a metaml knowledge base. Make one with: metaml kb init --kb {name}")
    if found not in known_versions(folder):
        raise SchemaMismatch(f"{name} has schema {found}, this metaml knows {head}. Run: pip install --upgrade metaml")
    backup = _back_up(engine, found) if with_backup else None
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        drop_views(connection)
        command.upgrade(config, "head")
        create_views(connection)
    return backup


def current_copy(path: Path, copy: Path) -> Path:
    """Return a SQLite knowledge base with the newest schema: the file itself, or an upgraded copy if it is older."""
    engine = make_engine(locate(path))
    try:
        with explained(engine.url), engine.connect() as connection, connection.begin():
            found = version(connection)
            # A newer schema is refused later, when the file is opened, so that the error shows its own name.
            if found is None or found >= HEAD:
                return path
    finally:
        engine.dispose()
    engine = make_engine(locate(copy))
    try:
        with explained(engine.url):
            _copy_sqlite(path, copy)
        upgrade(engine, with_backup=False)
    finally:
        engine.dispose()
    return copy


def _copy_sqlite(path: Path, copy: Path) -> None:
    """Copy a SQLite file, including what is still in its write-ahead log."""
    source, target = sqlite3.connect(path), sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        source.close()
        target.close()


def _back_up(engine: Engine, found: str) -> str:
    """Copy the whole knowledge base and return where the copy is."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = sqlite_path(engine.url)
    if path is not None:
        target = path.with_name(f"{path.stem}.schema-{found}.{stamp}{path.suffix}")
        with explained(engine.url):
            _copy_sqlite(path, target)
        return str(target)
    place = f"metaml_backup_{found}_{stamp.replace('-', '_')}"
    with writing(engine) as connection:
        quote = connection.dialect.identifier_preparer.quote
        names = inspect(connection).get_table_names()
        connection.execute(text(f"CREATE SCHEMA {quote(place)}"))
        for table in names:
            connection.execute(text(f"CREATE TABLE {quote(place)}.{quote(table)} AS TABLE {quote(table)}"))
    return f"schema {place}"
