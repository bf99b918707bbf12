"""The schema's version: how a new knowledge base is made, how an old one is brought up to date, with a backup first."""

import io
import secrets
import sqlite3
import time
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.engine import URL

from metaml_kb.engine import display_name, explained, locate, make_engine, sqlite_path, writing
from metaml_kb.errors import CannotOpen, SchemaMismatch
from metaml_kb.tables import create_views, drop_views, knowledge_base, metadata

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0001"
SQLITE_MAGIC = b"SQLite format 3\x00"
ZIP_MAGIC = b"PK\x03\x04"
HEADER_BYTES = 100
WRITE_VERSION = 18
"""The place in the header of a SQLite file that tells how it is written: 2 is with a write-ahead log."""
WITH_LOG = b"\x02"


def migrations_folder() -> Path:
    """Return the migrations: beside this file when installed, two folders up in a checkout."""
    here = Path(__file__).resolve()
    installed = here.parent / "migrations"
    return installed if installed.is_dir() else here.parents[2] / "migrations"


def check_file(url: URL, *, create: bool) -> None:
    """Raise unless the file behind a SQLite URL can be a knowledge base; touch nothing."""
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
                f"The folder {path.parent} cannot be made ({error.strerror}). Choose another place with --kb."
            ) from None
        return
    header = header_of(path)
    if not header and not create:
        raise CannotOpen(_is_empty(str(path)))
    if header.startswith(ZIP_MAGIC):
        raise CannotOpen(f"{path} is an exported file or another zip. Bring an export in with: metaml kb import {path}")
    if header and not header.startswith(SQLITE_MAGIC):
        raise CannotOpen(f"{path} is not a metaml knowledge base. Name another file with --kb.")
    # A file without a write-ahead log can be looked into without a trace, so somebody else's is refused at once.
    if header and header[WRITE_VERSION : WRITE_VERSION + 1] != WITH_LOG and _is_foreign(path):
        raise CannotOpen(_is_other(str(path)))


def header_of(path: Path) -> bytes:
    """Return how a file begins: enough of it to know a SQLite file or a zip."""
    try:
        with path.open("rb") as file:
            return file.read(HEADER_BYTES)
    except OSError as error:
        raise CannotOpen(f"{path} cannot be read ({error.strerror}). Check its permissions.") from None


def _is_foreign(path: Path) -> bool:
    """Return whether a SQLite file holds tables, but none of ours; what cannot be told here shows when it is opened."""
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
    """Return the schema version of an open database; None where there is none."""
    names = inspect(connection).get_table_names()
    if "alembic_version" not in names:
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def create(engine: Engine) -> None:
    """Make the tables of the newest schema, unless another process was faster."""
    with writing(engine) as connection:
        if version(connection) is not None:
            return
        metadata.create_all(connection)
        create_views(connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
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
    """Make sure that the database has the schema this code expects, or say what to do."""
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

    # What Alembic would print is said by our own messages.
    config = Config(stdout=io.StringIO(), output_buffer=io.StringIO())
    config.set_main_option("script_location", str(folder or migrations_folder()).replace("%", "%%"))
    return config


def known_versions(folder: Path | None = None) -> set[str]:
    """Return every version of the schema that there has been."""
    from alembic.script import ScriptDirectory

    return {revision.revision for revision in ScriptDirectory.from_config(alembic_config(folder)).walk_revisions()}


def upgrade(engine: Engine, folder: Path | None = None) -> str | None:
    """Bring an old knowledge base to the newest schema; return where the backup is, None if nothing was to be done."""
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
    backup = _back_up(engine, found)
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        drop_views(connection)
        command.upgrade(config, "head")
        create_views(connection)
    return backup


def current_copy(path: Path, copy: Path) -> Path:
    """Return a SQLite knowledge base with the newest schema: an upgraded copy of an older one, else the file itself."""
    engine = make_engine(locate(path))
    try:
        with explained(engine.url), engine.connect() as connection, connection.begin():
            found = version(connection)
            # What is newer is refused under its own name when it is opened.
            if found is None or found >= HEAD:
                return path
    finally:
        engine.dispose()
    _copy_sqlite(path, copy)
    engine = make_engine(locate(copy))
    try:
        upgrade(engine)
    finally:
        engine.dispose()
    return copy


def _copy_sqlite(path: Path, copy: Path) -> None:
    """Copy a SQLite file, with what is still in its write-ahead log."""
    source, target = sqlite3.connect(path), sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        source.close()
        target.close()


def _back_up(engine: Engine, found: str) -> str:
    """Copy the whole knowledge base aside and return where to."""
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
