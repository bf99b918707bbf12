"""What an exported file is made of: tables that anyone can read."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from metaml_kb import open_kb
from metaml_kb.exchange import create_from, export, import_file

DAY = 86_400.0


def test_the_scores_per_fold_are_numbers_that_anyone_can_read(full, tmp_path):
    export(full, tmp_path / "all.metaml")

    with zipfile.ZipFile(tmp_path / "all.metaml") as archive:
        runs = parquet.read_table(io.BytesIO(archive.read("run.parquet")))

    assert runs["fold_scores"].to_pylist()[0] == [0.5, 0.75, 0.25, 0.5]
    assert runs["fold_scores"].null_count == 1


def test_a_file_of_the_first_format_can_still_be_read(full, tmp_path):
    export(full, tmp_path / "new.metaml")
    with zipfile.ZipFile(tmp_path / "new.metaml") as new, zipfile.ZipFile(tmp_path / "old.metaml", "w") as old:
        for name in new.namelist():
            if name == "run.parquet":
                runs = parquet.read_table(io.BytesIO(new.read(name)))
                folds = [None if row is None else np.array(row).tobytes() for row in runs["fold_scores"].to_pylist()]
                place = runs.column_names.index("fold_scores")
                parquet.write_table(
                    runs.set_column(place, "fold_scores", pa.array(folds, pa.binary())), tmp_path / name
                )
                old.write(tmp_path / name, name)
            elif name == "manifest.json":
                old.writestr(name, json.dumps(json.loads(new.read(name)) | {"format": "metaml-export-1"}))
            else:
                old.writestr(name, new.read(name))

    with open_kb(":memory:") as other:
        import_file(other, tmp_path / "old.metaml")

        assert other.runs(folds=True).astype(str).equals(full.runs(folds=True).astype(str))


def test_the_journal_of_a_knowledge_base_that_was_removed_is_not_played_back(full, tmp_path):
    export(full, tmp_path / "all.metaml")
    script = "import os, sys, metaml_kb; metaml_kb.open_kb(sys.argv[1]).start_session('bot'); os._exit(1)"
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "new.db")], check=False)
    (tmp_path / "new.db").unlink()
    journal = tmp_path / "new.db-wal"
    assert journal.stat().st_size
    os.utime(journal, (0, 0))

    create_from(tmp_path / "new.db", tmp_path / "all.metaml")

    with open_kb(tmp_path / "new.db", create=False) as new:
        assert len(new.runs()) == len(full.runs())
        assert len(new.sql("SELECT * FROM session")) == len(full.sql("SELECT * FROM session"))
