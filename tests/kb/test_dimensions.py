"""The small tables that runs share: data sets, their metafeatures, names and numbers."""

from pathlib import Path

import numpy as np
import pytest

from metaml_kb import (
    DatasetRecord,
    KnowledgeBase,
    tables,
)
from metaml_kb.dimensions import SHARED, insert_rows, next_id, number_shared, required, to_json, with_new
from metaml_kb.engine import writing
from metaml_kb.errors import BadRecord, KBError


@pytest.fixture
def kb(backend: KnowledgeBase) -> KnowledgeBase:
    """Every claim here is made of every backend."""
    return backend


def test_a_task_that_is_none_is_learnt_later_and_then_stays(kb):
    before = kb.revision()
    for task in ("mistyped", "unknown", "binary", "regression", "unknown"):
        is_new = kb.add_dataset(DatasetRecord("e" * 32, "wine", task=task))

    assert not is_new
    assert kb.datasets().set_index("name")["task"]["wine"] == "binary"
    assert int(kb.revision().split("-")[1]) == int(before.split("-")[1]) + 2


def test_metafeatures_come_back_as_a_table(kb):
    values = {"NumberOfInstances": 150.0, "ClassEntropy": float("nan")}
    kb.add_metafeatures("f" * 32, values, reasons={"ClassEntropy": "too slow"}, seconds={"simple": 0.1})
    kb.add_metafeatures("f" * 32, {"ClassEntropy": 1.5})

    table = kb.metafeatures()

    assert table.loc["f" * 32].to_dict() == {"NumberOfInstances": 150.0, "ClassEntropy": 1.5}


def test_openmls_value_comes_before_ours(kb):
    kb.add_metafeatures("f" * 32, {"Dimensionality": 1.0})
    kb.add_metafeatures("f" * 32, {"Dimensionality": 2.0}, source="openml")

    assert kb.metafeatures()["Dimensionality"].tolist() == [2.0]
    assert kb.metafeatures(source="computed")["Dimensionality"].tolist() == [1.0]


def test_the_revision_changes_with_every_addition(kb, run_of):
    before = kb.revision()
    kb.add_run(run_of(1))
    after = kb.revision()
    kb.add_run(run_of(1))

    assert before != after == kb.revision()


def test_metafeatures_of_a_data_set_that_is_not_there_are_refused(kb):
    with pytest.raises(BadRecord, match="Store it first with add_dataset"):
        kb.add_metafeatures("e" * 32, {"NumberOfInstances": 1.0})


def test_a_name_gets_its_number_once(kb):
    with writing(kb.engine) as connection:
        first = with_new(connection, tables.algorithm, "name", ["svm", "mlp"], {})
        again = with_new(connection, tables.algorithm, "name", ["mlp", "forest"], first)
        free = next_id(connection, tables.algorithm)

    assert again["mlp"] == first["mlp"]
    assert sorted({*first.values(), *again.values()}) == [1, 2, 3]
    assert free == 4


def test_a_key_that_is_needed_and_missing_is_named_with_what_to_do(kb):
    with pytest.raises(BadRecord, match=r"names the session 'nobody'.* Do this\."):
        required(tables.session, ["nobody", None], {"somebody": 1}, "Do this.")


def test_the_numbers_of_shared_names_are_found_in_one_statement(kb):
    session = kb.start_session("bot")

    wanted = {name: [] for name in SHARED} | {"dataset": ["f" * 32, "0" * 32], "session": [session, None]}
    with writing(kb.engine) as connection:
        found = number_shared(connection, wanted)

    assert {table: numbers for table, numbers in found.items() if numbers} == {
        "dataset": {"f" * 32: 1},
        "session": {session: 1},
    }


def test_many_rows_are_stored_as_one_row_is(kb, run_of):
    kb.add_run(run_of(0, error="tab\tline\nback\\slash \\N ü"))
    kb.add_runs(run_of(number, error="tab\tline\nback\\slash \\N ü") for number in range(1, 30))

    runs = kb.sql("SELECT error, seed, fold_scores IS NULL AS has_no_folds, fit_seconds FROM run")

    assert len(runs) == 30
    assert len(runs.drop(columns="seed").drop_duplicates()) == 1


def test_a_database_that_refuses_many_rows_says_so_as_ever(kb, run_of):
    with pytest.raises(KBError), writing(kb.engine) as connection:
        insert_rows(connection, tables.algorithm, ("id", "name"), [(number, "same") for number in range(20)])

    assert kb.add_runs(run_of(number) for number in range(20)).n_new == 20


def test_details_that_json_does_not_know_become_their_text():
    assert to_json({"path": Path("a"), "n": np.int64(3)}) == '{"n": 3, "path": "a"}'
