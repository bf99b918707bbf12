"""`metaml describe` tells what a data set is like."""

import json

from typer.testing import CliRunner

from metaml_cli.main import app
from metaml_kb import DatasetRecord, open_kb

CSV = "size,colour,kind\n" + "".join(f"{i},{'red' if i % 3 else 'blue'},{'ab'[i % 2]}\n" for i in range(60))


def test_json_holds_the_metafeatures_and_the_most_similar_data_sets(tmp_path):
    (tmp_path / "toys.csv").write_text(CSV)
    with open_kb(tmp_path / "kb.db") as kb:
        for name, n_rows in (("near", 60.0), ("far", 50_000.0)):
            kb.add_dataset(DatasetRecord(name, name))
            facts = {"NumberOfInstances": n_rows, "NumberOfFeatures": 3.0, "NumberOfClasses": 2.0, "ClassEntropy": 1.0}
            kb.add_metafeatures(name, facts | {"Dimensionality": 3 / n_rows, "MajorityClassPercentage": 50.0})

    result = CliRunner().invoke(
        app,
        ["describe", str(tmp_path / "toys.csv"), "--kb", str(tmp_path / "kb.db"), "--format", "json", "--seconds", "1"],
    )

    told = json.loads(result.stdout)
    assert told["metafeatures"]["NumberOfInstances"] == 60
    assert told["task"] == "binary"
    assert [item["name"] for item in told["similar"]] == ["near", "far"]
    assert "Predicting 'kind', its last column." in result.stderr


def test_it_works_without_a_knowledge_base(tmp_path, monkeypatch):
    monkeypatch.setenv("METAML_KB", str(tmp_path / "none.db"))
    (tmp_path / "toys.csv").write_text(CSV)

    result = CliRunner().invoke(app, ["describe", str(tmp_path / "toys.csv"), "--target", "size", "--seconds", "1"])

    assert result.exit_code == 0
    assert "TargetSkewness" in result.stdout
    assert not (tmp_path / "none.db").exists()


def test_a_wrong_column_is_named(tmp_path):
    (tmp_path / "toys.csv").write_text(CSV)

    result = CliRunner().invoke(app, ["describe", str(tmp_path / "toys.csv"), "--target", "prize"])

    assert result.exit_code == 2
    assert "'prize'" in result.stderr
    assert "size" in result.stderr
