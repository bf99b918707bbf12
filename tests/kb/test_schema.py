"""Opening what is not, or no longer, or not yet a knowledge base."""

import io
import sqlite3
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory

from metaml_kb import open_kb, schema
from metaml_kb.engine import locate, make_engine
from metaml_kb.errors import CannotOpen, SchemaMismatch

ASSETS = Path(__file__).parents[1] / "assets" / "kb"

NEXT_REVISION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9000", "{head}", None, None


def upgrade():
    op.add_column("dataset", sa.Column("colour", sa.Text()))
"""


def test_migrations_and_tables_agree(tmp_path):
    engine = make_engine(locate(tmp_path / "kb.db"))
    config = schema.alembic_config()
    config.stdout = io.StringIO()
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
        command.check(config)
        connection.commit()
    engine.dispose()

    assert config.stdout.getvalue() == "No new upgrade operations detected.\n"


def test_the_version_of_the_tables_is_that_of_the_newest_migration():
    migrations = ScriptDirectory.from_config(schema.alembic_config())

    assert migrations.get_current_head() == schema.HEAD


def test_a_new_knowledge_base_has_what_the_migrations_make(tmp_path):
    migrated = make_engine(locate(tmp_path / "migrated.db"))
    config = schema.alembic_config()
    with migrated.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
    migrated.dispose()
    open_kb(tmp_path / "created.db").close()

    def tables(name: str) -> set[str]:
        connection = sqlite3.connect(tmp_path / name)
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'index')").fetchall()
        connection.close()
        return {name for (name,) in rows}

    assert tables("created.db") == tables("migrated.db")


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.db")), ids=lambda path: path.stem)
def test_every_released_schema_can_be_upgraded_and_read(path, tmp_path):
    copy = tmp_path / "old.db"
    copy.write_bytes(path.read_bytes())
    engine = make_engine(locate(copy))
    schema.upgrade(engine)
    engine.dispose()

    with open_kb(copy, create=False) as kb:
        frame = kb.runs()

        assert kb.info()["schema"] == schema.HEAD
        assert frame["dataset"].tolist() == ["iris"] * 3
        assert frame["max_depth"].tolist()[:2] == [None, 3]
        assert frame["status"].tolist() == ["ok", "ok", "timeout"]
        assert kb.best("iris", "accuracy", 1)["accuracy"].tolist() == [0.95]
        assert kb.metafeatures()["NumberOfInstances"].tolist() == [150.0]


def with_next_revision(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    for file in schema.migrations_folder().rglob("*.*"):
        if file.suffix in (".py", ".mako"):
            (folder / file.relative_to(schema.migrations_folder())).write_text(file.read_text())
    (folder / "versions" / "9000_next.py").write_text(NEXT_REVISION.format(head=schema.HEAD))
    return folder


def test_an_upgrade_makes_a_backup_first(kb, run_of, tmp_path):
    kb.add_run(run_of(1))
    kb.close()

    backup = schema.upgrade(kb.engine, with_next_revision(tmp_path))

    assert backup is not None
    with open_kb(backup, create=False) as old:
        assert len(old.runs()) == 1
    connection = sqlite3.connect(tmp_path / "kb.db")
    assert "colour" in {row[1] for row in connection.execute("PRAGMA table_info(dataset)")}
    assert connection.execute("SELECT count(*) FROM result").fetchone() == (2,)
    connection.close()


def test_an_upgrade_on_postgresql_copies_the_tables_aside(postgres_url, tmp_path, run_of):
    from metaml_kb import DatasetRecord

    url = postgres_url("upgrade")
    with open_kb(url) as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris"))
        kb.add_run(run_of(1))

        backup = schema.upgrade(kb.engine, with_next_revision(tmp_path))

        assert backup is not None
        assert kb.sql(f"SELECT count(*) AS n FROM {backup.removeprefix('schema ')}.run")["n"].tolist() == [1]
        assert kb.sql("SELECT colour FROM dataset")["colour"].tolist() == [None]
        assert kb.sql("SELECT count(*) AS n FROM result")["n"].tolist() == [2]


def test_nothing_to_upgrade_makes_no_backup(kb, tmp_path):
    assert schema.upgrade(kb.engine) is None
    assert sorted(path.name for path in tmp_path.glob("kb.schema*")) == []


@pytest.mark.parametrize(
    ("version", "advice"), [("9999", "pip install --upgrade metaml"), ("0000", "metaml kb upgrade")]
)
def test_another_schema_is_left_alone(kb, tmp_path, version, advice):
    with kb.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = ?", (version,))
    kb.close()
    before = (tmp_path / "kb.db").read_bytes()

    with pytest.raises(SchemaMismatch, match=advice):
        open_kb(tmp_path / "kb.db")

    assert (tmp_path / "kb.db").read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    path = tmp_path / "notes.db"
    path.write_text("these are my notes, not a database")

    with pytest.raises(CannotOpen, match="not a metaml knowledge base"):
        open_kb(path)

    assert path.read_text() == "these are my notes, not a database"


def test_somebody_elses_database_is_left_alone(tmp_path):
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE customer (id INTEGER)")
    connection.commit()
    connection.close()

    with pytest.raises(CannotOpen, match="a database, but not a metaml knowledge base"):
        open_kb(path)

    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("customer",)]
    connection.close()


def test_a_damaged_file_is_explained(kb, run_of, tmp_path):
    kb.add_runs(run_of(n) for n in range(500))
    kb.close()
    path = tmp_path / "kb.db"
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)

    with pytest.raises(CannotOpen, match="damaged"), open_kb(path, create=False) as base:
        base.runs()


@pytest.mark.parametrize("create", [True, False])
def test_somebody_elses_database_is_left_as_it_is_to_the_byte(tmp_path, create):
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE customer (id INTEGER)")
    connection.commit()
    connection.close()
    before = path.read_bytes()

    with pytest.raises(CannotOpen, match="a database, but not a metaml knowledge base"):
        open_kb(path, create=create)

    assert path.read_bytes() == before
