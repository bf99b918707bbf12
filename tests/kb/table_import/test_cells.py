"""What a cell of a third-party table means."""

from dataclasses import replace

import pytest

from metaml_kb.errors import BadTable
from tests.kb.table_import.importer import FOREST, is_same


def test_none_is_python_none_in_columns_of_numbers_and_of_words(imported):
    imported("task_id,preprocessor,max_depth,accuracy\n14,None,None,0.84\n14,PCA,9,0.81\n14,\"['A', 'B']\",9,0.8\n")

    assert is_same(
        imported.configs(),
        [
            {"preprocessor": None, "max_depth": None},
            {"preprocessor": "PCA", "max_depth": 9},
            {"preprocessor": "['A', 'B']", "max_depth": 9},
        ],
    )


def test_none_is_a_word_in_a_column_of_words(imported):
    imported(
        "task_id,pre,version,accuracy\n14,None,1.0,0.84\n14,,7,0.8\n", replace(FOREST, word_columns=("pre", "version"))
    )

    assert imported.configs() == [{"pre": "None", "version": "1.0"}, {"version": "7"}]


def test_none_empty_and_lower_case_none_are_three_things(imported):
    report = imported("task_id,pre,accuracy\n14,None,0.84\n14,,0.84\n14,none,0.84\n")

    assert (report.n_new, report.n_duplicates) == (3, 0)
    assert is_same(imported.configs(), [{"pre": None}, {}, {"pre": "none"}])


def test_one_decimal_makes_all_numbers_of_a_column_decimals(imported):
    report = imported("task_id,C,depth,accuracy\n1,1,1,0.5\n1,1.0,1,0.5\n1,2.5,2,0.6\n")

    assert report.n_duplicates == 1
    assert is_same(imported.configs(), [{"C": 1.0, "depth": 1}, {"C": 2.5, "depth": 2}])


def test_decimal_in_the_last_chunk_counts_for_the_first(imported):
    rows = [f"1,{number},0.5" for number in range(6_000)]

    imported("\n".join(["task_id,C,accuracy", *rows, "1,0.25,0.5"]))

    assert imported.kb.runs()["C"].dtype == float
    assert len(imported.kb.runs()) == 6_001


def test_decimal_column_can_be_named_where_a_file_has_integers_only(imported):
    imported("task_id,C,accuracy\n1,1,0.5\n", replace(FOREST, decimal_columns=("C",)))

    assert is_same(imported.configs(), [{"C": 1.0}])


def test_numbers_and_words_may_share_a_column(imported):
    imported("task_id,max_features,accuracy\n1,sqrt,0.5\n1,0.5,0.5\n1,True,0.5\n1,inf,0.5\n1,007,0.5\n1,1_0,0.5\n")

    values = [config["max_features"] for config in imported.configs()]
    assert is_same(values, ["sqrt", 0.5, True, "inf", "007", "1_0"])


def test_one_and_true_are_two_configurations(imported):
    report = imported("task_id,p,accuracy\n1,1,0.5\n1,True,0.5\n")

    assert report.n_new == 2


def test_na_is_a_word_where_there_are_words(imported):
    imported("task_id,region,depth,accuracy\n1,NA,NA,0.5\n1,EU,3,0.5\n")

    assert is_same(imported.configs(), [{"region": "NA"}, {"region": "EU", "depth": 3}])


def test_empty_cell_can_mean_an_unknown_default(imported):
    layout = replace(FOREST, empty_means="default")

    report = imported("task_id,trees,accuracy\n1,,0.5\n1,100,0.5\n", layout)

    assert is_same(imported.configs(), [{"trees": "default"}, {"trees": 100}])
    assert any("left at its default in: trees" in note for note in report.notes)


def test_empty_cell_can_mean_a_default_that_is_told(imported):
    layout = replace(FOREST, defaults={"replace": "TRUE", "rate": "0.5"})

    imported("task_id,replace,rate,depth,accuracy\n1,,,,0.5\n1,FALSE,1,3,0.5\n", layout)

    assert is_same(imported.configs(), [{"replace": True, "rate": 0.5}, {"replace": False, "rate": 1.0, "depth": 3}])


def test_unknown_default_is_not_mistaken_for_the_word(imported):
    with pytest.raises(BadTable, match="'stop' has empty cells and the word 'default'"):
        imported("task_id,stop,accuracy\n1,,0.5\n1,default,0.6\n", replace(FOREST, empty_means="default"))


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
