"""Third-party tables that cannot be read: what is wrong, what was seen, what to do."""

import gzip
from dataclasses import replace

import pytest

from metaml_kb.errors import BadTable
from metaml_kb.table_import.runs import import_table
from tests.kb.tables.importer import FOREST


def test_call_in_a_dict_cell_is_refused_and_never_made(imported, tmp_path):
    trace = tmp_path / "trace"
    layout = replace(FOREST, config_column="p")

    with pytest.raises(BadTable, match=r"Line 3 of runs.csv has .*dict, written in JSON or as a Python literal"):
        imported(
            f"task_id,p,accuracy\n1,{{}},0.5\n1,__import__('os').system('touch {trace}'),0.5\n",
            layout,
        )

    assert not trace.exists()
    assert imported.kb.info()["runs"] == 0
    assert imported.kb.info()["sessions"] == {}


@pytest.mark.parametrize(
    "cell", ["[1]", "{1: 2}", "{'a': 1e999}", '"{""a"": NaN}"', "{'a': b}", "nonsense", "{" * 500, "{'a': '\\ud800'}"]
)
def test_dict_cell_must_be_a_dict_of_plain_values(imported, cell):
    with pytest.raises(BadTable, match=r"Line 2 of runs\.csv"):
        imported(f"task_id;p;accuracy\n1;{cell};0.5\n", replace(FOREST, config_column="p"))


@pytest.mark.parametrize("score", ["high", "85%", "0,85", "inf", "1_0", "0x1"])
def test_score_that_is_no_number_is_told_with_its_line_and_nothing_is_stored(imported, score):
    with pytest.raises(BadTable, match=f"Line 3 of runs.csv has '{score}' as 'accuracy'"):
        imported(f"task_id;d;accuracy\n1;5;0.5\n1;6;{score}\n")

    assert imported.kb.info()["datasets"] == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dataset_column": "data"}, r"no column 'data'. Columns: task_id, d, accuracy. .*--dataset-column"),
        ({"score_columns": ("auc",)}, "no column 'auc'.*--score-column"),
        ({"ignore_columns": ("x",)}, "no column 'x'.*--ignore-column"),
        ({"score_columns": ()}, "No score column"),
        ({"algorithm": None}, "--algorithm or --algorithm-column"),
        ({"algorithm_column": "d"}, "--algorithm or --algorithm-column"),
        ({"ignore_columns": ("accuracy",)}, "--score-column and with --ignore-column"),
        ({"metrics": ("a", "b")}, "1 score columns and 2 metrics"),
        ({"lower_is_better": ("loss",)}, "'loss' is lower-is-better but no score"),
        ({"word_columns": ("task_id",)}, "'task_id' is not a hyperparameter"),
        ({"defaults": {"x": "1"}}, "no column 'x'.*--default"),
        ({"separator": ", "}, "not one character"),
        ({"task": "Binary"}, r"no task 'Binary'.*--task binary, multiclass or regression"),
        ({"seed_column": "d"}, "Line 2 .* whole number"),
    ],
)
def test_layout_that_does_not_fit_the_header_is_one_sentence(imported, changes, said):
    with pytest.raises(BadTable, match=said):
        imported("task_id,d,accuracy\n1,5.5,0.5\n", replace(FOREST, **changes))

    assert imported.kb.info()["sessions"] == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("task_id,d,accuracy\n", "no rows"),
        ("task_id,d,d,accuracy\n1,2,3,0.5\n", "several columns named 'd'"),
        ("task_id,d,accuracy\n1,5,0.5\n1,5\n", "Line 3 of runs.csv has 2 cells where the header has 3"),
        ("task_id,d,accuracy\n1,5,0.5,9\n", "Line 2 of runs.csv has 4 cells"),
        ("task_id,d,accuracy\n,5,0.5\n", "Line 2 of runs.csv has '' as 'task_id'; expected a name"),
        ('task_id,d,accuracy\n1,"5,0.5\n', "cannot be split into cells"),
    ],
)
def test_broken_table_is_one_sentence(imported, text, said):
    with pytest.raises(BadTable, match=said):
        imported(text)


def test_column_and_dict_may_not_name_the_same_hyperparameter(imported):
    with pytest.raises(BadTable, match="'d' is a column and also a name in 'p'"):
        imported("task_id,d,p,accuracy\n1,5,{'d': 1},0.5\n", replace(FOREST, config_column="p"))


def test_unreadable_files_are_one_sentence(kb, tmp_path):
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(b"task_id,d,accuracy\n1,5,0.5\n" * 1000)[:-20])
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00\x9d")

    for path, said in (
        (cut, "damaged"),
        (binary, "not UTF-8"),
        (tmp_path, "cannot be read"),
        (tmp_path / "x", "no file"),
    ):
        with pytest.raises(BadTable, match=said):
            import_table(kb, path, FOREST)
