"""Import: a file becomes part of a knowledge base, or a new one."""

import io
import os
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from metaml_kb import DatasetRecord, open_kb
from metaml_kb.errors import BadRecord, BadTable, CannotOpen
from metaml_kb.exchange import create_from, export, import_file

DAY = 86_400.0
OLDER = Path(__file__).parents[2] / "assets" / "release_0_1" / "share.metaml"
"""An export of schema 0001."""


def test_a_foreign_zip_is_refused(kb, tmp_path):
    with zipfile.ZipFile(tmp_path / "foreign.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")

    with pytest.raises(BadTable, match="not written by metaml kb export"):
        import_file(kb, tmp_path / "foreign.zip")


def test_a_table_is_sent_to_where_tables_go(kb, tmp_path):
    (tmp_path / "iris.csv").write_text("width,species\n1.5,setosa\n")

    with pytest.raises(BadTable, match=r"runs goes in with metaml kb import-table.*data set is for metaml tune"):
        import_file(kb, tmp_path / "iris.csv")


def test_an_export_is_no_knowledge_base_until_it_is_imported(full, tmp_path):
    export(full, tmp_path / "all.metaml")

    with pytest.raises(CannotOpen, match=r"all\.metaml is an exported file.*metaml kb import \S+all\.metaml"):
        open_kb(tmp_path / "all.metaml")


def test_a_missing_file_is_named(kb, tmp_path):
    with pytest.raises(CannotOpen, match="no file"):
        import_file(kb, tmp_path / "nothing.metaml")


def test_a_knowledge_base_can_be_made_from_an_export(full, tmp_path):
    export(full, tmp_path / "all.metaml")

    create_from(tmp_path / "new.db", tmp_path / "all.metaml")

    with open_kb(tmp_path / "new.db", create=False) as other:
        assert other.runs().equals(full.runs())
        assert other.info()["key"] != full.info()["key"]
    assert not list(tmp_path.glob("*unfinished*"))


def test_a_knowledge_base_made_from_an_older_export_is_that_of_an_import(tmp_path):
    create_from(tmp_path / "new.db", OLDER)

    with open_kb(tmp_path / "new.db", create=False) as made, open_kb(tmp_path / "other.db") as other:
        import_file(other, OLDER)
        assert made.runs().equals(other.runs()[made.runs().columns])
        names = "SELECT type, name FROM sqlite_master ORDER BY type, name"
        assert made.sql(names).equals(other.sql(names))
        assert len(made.info()["key"]) == 32
        assert made.info()["key"] != other.info()["key"]
    assert {path.name for path in tmp_path.iterdir()} == {"new.db", "other.db"}


def test_an_older_export_is_checked_unless_it_is_trusted(tmp_path):
    refused = tmp_path / "refused.metaml"
    with zipfile.ZipFile(OLDER) as archive, zipfile.ZipFile(refused, "w") as changed:
        for name in archive.namelist():
            content = archive.read(name)
            if name == "session.parquet":
                content = _with_bad_settings(content)
            changed.writestr(name, content)

    with pytest.raises(BadRecord):
        create_from(tmp_path / "new.db", refused)

    assert not (tmp_path / "new.db").exists()


def _with_bad_settings(parquet: bytes) -> bytes:
    frame = pd.read_parquet(io.BytesIO(parquet))
    frame["settings"] = "no JSON"
    return frame.to_parquet()


def test_a_name_with_brackets_leaves_nothing_behind_either(full, tmp_path):
    export(full, tmp_path / "all.metaml")

    create_from(tmp_path / "new[1].db", tmp_path / "all.metaml")

    assert not list(tmp_path.glob("*unfinished*"))


def test_a_knowledge_base_that_cannot_be_made_is_named_as_it_was_asked_for(full, tmp_path):
    export(full, tmp_path / "all.metaml")

    with pytest.raises(CannotOpen, match=r"^/proc/kb\.db cannot be opened"):
        create_from(Path("/proc/kb.db"), tmp_path / "all.metaml")


def test_what_another_process_made_meanwhile_stays(full, run_of, tmp_path):
    export(full, tmp_path / "all.metaml")
    with open_kb(tmp_path / "new.db") as faster:
        faster.add_dataset(DatasetRecord("f" * 32, "iris"))
        faster.add_run(run_of(77))

        create_from(tmp_path / "new.db", tmp_path / "all.metaml")

        assert len(faster.runs()) == 1


def test_what_a_killed_process_left_is_swept_after_a_while(full, tmp_path):
    export(full, tmp_path / "all.metaml")
    old, fresh = tmp_path / "new.db.1.unfinished", tmp_path / "new.db.2.unfinished-wal"
    for leftover in (old, fresh):
        leftover.touch()
    os.utime(old, (0, 0))

    create_from(tmp_path / "new.db", tmp_path / "all.metaml")

    assert not old.exists()
    assert fresh.exists()
