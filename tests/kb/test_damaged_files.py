"""Files of others that are damaged, or hold what metaml never wrote: a sentence, and nothing is stored."""

import io
import json
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from metaml_kb import DatasetRecord, open_kb
from metaml_kb.doctor import check_up
from metaml_kb.errors import BadRecord, BadTable, CannotOpen, KBError, SchemaMismatch
from metaml_kb.exchange import export, import_file
from tests.kb.conftest import fill

NONSENSE = [
    "UPDATE configuration SET value_list = 'nonsense'",
    "UPDATE configuration SET value_list = '[1]'",
    "UPDATE configuration SET value_list = '[[1],2]'",
    "UPDATE parameter_set SET names = '{}'",
    "UPDATE run SET score_list = '[\"high\",1]'",
    "UPDATE run SET fold_scores = x'0102'",
    "UPDATE run SET status = 'splendid'",
    "UPDATE run SET finished_at = 'yesterday'",
    "UPDATE run SET dataset_id = 999",
    "UPDATE session SET settings = '[]'",
    "UPDATE dataset SET details = ''",
    "UPDATE prediction SET data = x'00'",
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A folder with exports of a knowledge base that has a bit of everything: all.metaml and all.db."""
    folder = tmp_path_factory.mktemp("exported")
    with open_kb(folder / "kb.db") as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass"))
        fill(kb)
        export(kb, folder / "all.metaml")
        export(kb, folder / "all.db")
    return folder


def test_a_damaged_export_changes_nothing(exported, tmp_path):
    with zipfile.ZipFile(exported / "all.metaml") as whole, zipfile.ZipFile(tmp_path / "bad.metaml", "w") as bad:
        for name in whole.namelist():
            bad.writestr(name, b"PAR1 nonsense" if name == "run.parquet" else whole.read(name))

    with open_kb(":memory:") as other:
        with pytest.raises(BadTable, match="damaged at table run"):
            import_file(other, tmp_path / "bad.metaml")

        assert other.datasets().empty


def with_part(whole: Path, changed: Path, part: str, content: bytes) -> Path:
    """Write an exported file in which one part is another."""
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            target.writestr(name, content if name == part else source.read(name))
    return changed


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("part", ["manifest.json", "dataset.parquet", "run.parquet"])
def test_an_export_that_is_damaged_anywhere_is_told_as_that_and_changes_nothing(exported, tmp_path, part, is_new):
    with zipfile.ZipFile(exported / "all.metaml") as archive:
        content = archive.read(part)
    for place in range(4, len(content), max(len(content) // 8, 1)):
        spoilt = content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]
        bad = with_part(exported / "all.metaml", tmp_path / "bad.metaml", part, spoilt)
        with open_kb(":memory:") as other:
            if not is_new:
                other.start_session("bot")
            before = other.revision()
            try:
                import_file(other, bad)
            except KBError:
                assert other.revision() == before
                assert other.datasets().empty


def test_an_export_whose_zip_is_damaged_is_told_as_that(full, exported, tmp_path):
    content = (exported / "all.metaml").read_bytes()
    place = content.index(b"metaml-export")
    (tmp_path / "bad.metaml").write_bytes(content[:place] + b"M" + content[place + 1 :])

    with pytest.raises(BadTable, match=r"bad\.metaml is damaged at its manifest .*Ask for a new export"):
        import_file(full, tmp_path / "bad.metaml")


def test_a_zip_that_unfolds_is_refused_unread(full, exported, tmp_path):
    with zipfile.ZipFile(exported / "all.metaml") as whole:
        manifest = whole.read("manifest.json")
    with zipfile.ZipFile(tmp_path / "bomb.metaml", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("manifest.json", manifest)
        bomb.writestr("run.parquet", bytes(1_000_000))

    with pytest.raises(BadTable, match=r"bomb\.metaml was not written by metaml kb export"):
        import_file(full, tmp_path / "bomb.metaml")


def parquet_bytes(columns: dict[str, "pa.Array"], **options: object) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, compression="zstd", **options)
    return stream.getvalue()


BOMBS = {
    "rows": lambda: {"id": pa.nulls(8_000_000, pa.int64()), "name": pa.nulls(8_000_000, pa.string())},
    "bytes": lambda: {"id": pa.array([1]), "name": pa.array(["x" * 110_000_000])},
    "repeated": lambda: {
        "id": pa.array(range(20_000)),
        "name": pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int8()), ["x" * 1_000_000]),
    },
    "list": lambda: {"id": pa.array([1]), "name": pa.array([np.zeros(13_000_000)])},
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_table_that_unfolds_is_refused(exported, tmp_path, kind):
    bomb = with_part(
        exported / "all.metaml", tmp_path / "bomb.metaml", "algorithm.parquet", parquet_bytes(BOMBS[kind]())
    )

    with open_kb(":memory:") as other:
        with pytest.raises(BadTable, match=r"bomb\.metaml .*table algorithm.* megabytes.*Ask for a new export"):
            import_file(other, bomb)

        assert other.datasets().empty


@pytest.mark.parametrize("manifest", [{}, {"schema": None}, {"schema": "../0001"}, {"schema": "head"}])
def test_an_export_with_a_schema_that_never_was_is_refused(full, exported, tmp_path, manifest):
    content = json.dumps({"format": "metaml-export-2", **manifest}).encode()
    bad = with_part(exported / "all.metaml", tmp_path / "bad.metaml", "manifest.json", content)

    with pytest.raises(SchemaMismatch, match="this metaml knows"):
        import_file(full, bad)


def test_an_export_without_its_end_is_told_as_that(full, exported, tmp_path):
    (tmp_path / "half.metaml").write_bytes((exported / "all.metaml").read_bytes()[:5000])

    with pytest.raises(BadTable, match="its end is missing"):
        import_file(full, tmp_path / "half.metaml")


def change_by_hand(path: Path, change: str) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(change)


@pytest.mark.parametrize("change", NONSENSE)
def test_of_a_file_with_a_record_that_cannot_be_read_nothing_is_stored(exported, tmp_path, change):
    shutil.copy(exported / "all.db", tmp_path / "bad.db")
    change_by_hand(tmp_path / "bad.db", change)
    with open_kb(":memory:") as other:
        before = other.revision()

        with pytest.raises(BadRecord, match=r"bad\.db holds what metaml never wrote .*nothing of it was stored"):
            import_file(other, tmp_path / "bad.db")

        assert other.revision() == before
        assert other.datasets().empty


@pytest.mark.parametrize("is_new", [True, False])
def test_of_an_export_with_a_record_that_cannot_be_read_nothing_is_stored(full, tmp_path, is_new):
    change_by_hand(tmp_path / "kb.db", NONSENSE[0])
    export(full, tmp_path / "bad.metaml")
    with open_kb(":memory:") as other:
        if not is_new:
            other.start_session("bot")

        with pytest.raises(BadRecord, match=r"bad\.metaml holds what metaml never wrote"):
            import_file(other, tmp_path / "bad.metaml")

        assert other.datasets().empty


def test_a_file_whose_damage_is_no_text_is_told_as_damaged(exported, tmp_path):
    shutil.copy(exported / "all.db", tmp_path / "bad.db")
    content = (tmp_path / "bad.db").read_bytes()
    (tmp_path / "bad.db").write_bytes(content.replace(b"CREATE VIEW result", b"CREATE \xe9IEW result"))

    with pytest.raises(CannotOpen, match=r"bad\.db is not a metaml knowledge base, or it is damaged"):
        open_kb(tmp_path / "bad.db", create=False)
    assert [finding.is_error for finding in check_up(tmp_path / "bad.db").findings] == [True]


def test_a_newer_file_is_refused_under_its_own_name(full, exported, tmp_path):
    shutil.copy(exported / "all.db", tmp_path / "newer.db")
    change_by_hand(tmp_path / "newer.db", "UPDATE alembic_version SET version_num = '9999'")

    with pytest.raises(SchemaMismatch, match=r"newer\.db has schema 9999, this metaml knows"):
        import_file(full, tmp_path / "newer.db")


def test_a_file_that_is_cut_while_it_is_read_is_told_as_damaged(kb, run_of):
    kb.add_runs(run_of(n) for n in range(3000))
    kb.close()
    # In a process of its own, which a signal would end.
    program = f"""
import os
from metaml_kb import DatasetRecord, open_kb
from metaml_kb.engine import reading
from metaml_kb.errors import KBError
with open_kb({kb.name!r}) as kb:
    try:
        with reading(kb.engine) as connection:
            rows = connection.exec_driver_sql("SELECT * FROM run")
            rows.fetchmany(10)
            os.truncate({kb.name!r}, 100_000)
            rows.fetchall()
    except KBError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert "it is damaged" in done.stdout
