"""Third-party metafeatures."""

import pandas as pd
import pytest

from metaml_kb.errors import BadTable
from metaml_kb.table_import.metafeatures import import_metafeatures


def test_metafeatures_join_the_runs_and_an_empty_cell_is_undefined(imported, tmp_path):
    imported("task_id,d,accuracy\n3,5,0.5\n")
    path = tmp_path / "metafeatures.csv"
    path.write_text("task_id,NumberOfFeatures,Entropy,note\n3,37.0,,a\n6,17,0.5,b\n")

    report = import_metafeatures(
        imported.kb, path, dataset_column="task_id", dataset_prefix="openml-task:", ignore_columns=("note",)
    )

    frame = imported.kb.metafeatures()
    assert (report.n_rows, report.n_new, report.n_known) == (2, 3, 0)
    assert frame.loc["name:openml-task:3", "NumberOfFeatures"] == 37
    assert pd.isna(frame.loc["name:openml-task:3", "Entropy"])
    assert imported.kb.sql("SELECT reason FROM metafeature WHERE value IS NULL")["reason"].tolist() == [
        "metafeatures.csv has no value."
    ]
    assert imported.kb.datasets()["n_runs"].tolist() == [1, 0]


def test_metafeatures_again_add_nothing_and_another_value_is_a_clash(kb, tmp_path):
    path = tmp_path / "metafeatures.csv"
    path.write_text("dataset,a,b\nx,1,2\nx,1,2\n")
    import_metafeatures(kb, path, dataset_column="dataset")
    path.write_text("dataset,a,b\nx,1,3\n")

    again = import_metafeatures(kb, path, dataset_column="dataset")

    assert (again.n_new, again.n_known, again.n_clashes) == (0, 2, 1)
    assert kb.metafeatures().loc["name:x"].tolist() == [1, 2]


def test_metafeature_that_is_no_number_is_told_with_its_line(kb, tmp_path):
    path = tmp_path / "metafeatures.csv"
    path.write_text("dataset,a\nx,1\ny,big\n")

    with pytest.raises(BadTable, match=r"Line 3 of metafeatures\.csv has 'big' as 'a'"):
        import_metafeatures(kb, path, dataset_column="dataset")

    assert kb.info()["datasets"] == 0
