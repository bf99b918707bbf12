"""The columns of a run are declared once: a field of the record and a column of the table of the same name."""

from dataclasses import fields

from metaml_kb import tables
from metaml_kb.frames import hyperparameter_columns
from metaml_kb.records import Run
from metaml_kb.runrows import AS_STORED
from metaml_kb.writing import COMPUTED, COPIED

KEPT_IN_OTHER_TABLES = {
    *("dataset", "algorithm", "config", "scores", "fold_plan"),
    *("session", "environment", "proposal", "predictions"),
}
MEASURED = {"probability": 0.25, "fit_seconds": 2.0, "predict_seconds": 0.5, "peak_megabytes": 80.0}


def test_every_column_of_a_run_is_written():
    assert sorted(COMPUTED + COPIED) == sorted(tables.run.columns.keys())


def test_every_field_of_a_run_is_a_column_or_refers_to_another_table():
    assert {field.name for field in fields(Run)} - set(AS_STORED) == KEPT_IN_OTHER_TABLES


def test_every_column_that_holds_a_field_comes_back_in_the_frame(kb, run_of):
    kb.add_run(run_of(1, config={"depth": 3}, scores={"accuracy": 0.9}, **MEASURED))

    frame = kb.runs()

    assert set(AS_STORED) <= set(frame.columns)
    assert frame[[*MEASURED]].to_dict("records") == [MEASURED]
    assert hyperparameter_columns(frame) == ["depth"]
