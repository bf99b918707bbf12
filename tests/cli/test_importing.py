"""`metaml kb import-table` and `import-metafeatures`: results of other people."""

import json
import zipfile

import pytest

from metaml_kb import open_kb
from tests.cli.terminal import metaml

TABLE = ["--dataset-column", "task", "--algorithm", "svc"]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["import", "none.metaml"], "There is no file none.metaml"),
        (["import", "facts.csv"], "facts.csv is neither an exported file nor a knowledge base"),
        (["import", "foreign.zip"], "foreign.zip was not written by metaml kb export"),
        (["import-table", "none.csv", *TABLE, "--score-column", "n"], "There is no file none.csv"),
        (["import-table", "facts.csv", *TABLE, "--score-column", "acc"], "no column 'acc'"),
        (["import-metafeatures", "none.csv", "--dataset-column", "task"], "There is no file none.csv"),
        (["import-metafeatures", "facts.csv", "--dataset-column", "data"], "no column 'data'"),
        (["import-openml", "--task", "31", "--flow", "forest"], "'forest' is not an OpenML number"),
    ],
)
def test_no_knowledge_base_is_made_for_what_cannot_be_imported(tmp_path, monkeypatch, command, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facts.csv").write_text("task,n\n3,100\n")
    with zipfile.ZipFile(tmp_path / "foreign.zip", "w") as archive:
        archive.writestr("readme.txt", "hello")

    result = metaml("kb", *command, "--kb", tmp_path / "new.db", code=2)

    assert told in result.stderr
    assert not (tmp_path / "new.db").exists()


def test_a_table_of_others_can_be_imported(tmp_path):
    (tmp_path / "runs.csv").write_text("task,C,kernel,acc,secs\n3,0.5,rbf,0.9,1\n3,,linear,0.8,2\n")
    place = tmp_path / "kb.db"

    result = metaml(
        "kb", "import-table", tmp_path / "runs.csv", "--dataset-column", "task", "--algorithm", "svc",
        "--score-column", "acc", "--metric", "accuracy", "--seconds-column", "secs", "--kb", place,
    )  # fmt: skip

    assert "2 rows: 2 new runs" in result.stderr
    rows = json.loads(metaml("kb", "runs", "--kb", place, "--format", "json").stdout)
    assert [(row.get("C"), row["kernel"], row["accuracy"], row["fit_seconds"]) for row in rows] == [
        (0.5, "rbf", 0.9, 1.0),
        (None, "linear", 0.8, 2.0),
    ]


def test_metafeatures_of_others_can_be_imported(tmp_path):
    (tmp_path / "facts.csv").write_text("task,NumberOfInstances\n3,100\n")
    place = tmp_path / "kb.db"

    metaml("kb", "import-metafeatures", tmp_path / "facts.csv", "--dataset-column", "task", "--kb", place)

    with open_kb(place) as kb:
        assert kb.metafeatures()["NumberOfInstances"].tolist() == [100.0]


def test_a_default_without_a_value_is_refused(tmp_path):
    (tmp_path / "runs.csv").write_text("task,C,acc\n3,,0.9\n")

    result = metaml(
        "kb", "import-table", tmp_path / "runs.csv", *TABLE, "--score-column", "acc", "--default", "C",
        "--kb", tmp_path / "kb.db", code=2,
    )  # fmt: skip

    assert "--default 'C' has no value. Write it as NAME=VALUE." in result.stderr
