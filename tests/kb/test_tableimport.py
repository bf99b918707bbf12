"""Third-party tables: small samples of our own in the shapes of tables that people have published."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metaml_kb import KnowledgeBase, open_kb
from metaml_kb.errors import BadTable
from metaml_kb.metafeatureimport import import_metafeatures
from metaml_kb.tableimport import ImportReport, TableLayout, import_table

FOREST = TableLayout(
    dataset_column="task_id", dataset_prefix="openml-task:", algorithm="forest", score_columns=("accuracy",)
)


@pytest.fixture
def kb():
    with open_kb(":memory:") as kb:
        yield kb


class Importer:
    """Writes a text to a file and imports it."""

    def __init__(self, kb: KnowledgeBase, folder: Path) -> None:
        self.kb, self.folder = kb, folder

    def __call__(self, text: str, layout: TableLayout = FOREST, *, name: str = "runs.csv") -> ImportReport:
        path = self.folder / name
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return import_table(self.kb, path, layout)

    def configs(self) -> list[dict[str, Any]]:
        """Return the stored configurations in the order of the rows."""
        stored = self.kb.sql(
            "SELECT names, value_list FROM run JOIN configuration ON configuration.id = configuration_id "
            "JOIN parameter_set ON parameter_set.id = parameter_set_id ORDER BY run.id"
        )
        pairs = zip(map(json.loads, stored["names"]), map(json.loads, stored["value_list"]), strict=True)
        return [dict(zip(names, values, strict=True)) for names, values in pairs]


@pytest.fixture
def imported(kb, tmp_path):
    return Importer(kb, tmp_path)


def is_same(left: object, right: object) -> bool:
    """Return whether two values are equal and of the same types throughout: 1, 1.0 and True differ."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


# Shapes of published tables


def test_plain_table_gives_a_run_per_row_with_typed_hyperparameters(imported):
    report = imported(
        "task_id,bootstrap,criterion,max_features,min_samples_leaf,accuracy\n"
        "3,True,gini,0.8026968345397216,18,0.96965\n"
        "3,False,entropy,0.5,2,0.993429\n"
    )

    assert (report.n_rows, report.n_new, report.datasets) == (2, 2, ("openml-task:3",))
    assert is_same(
        imported.configs(),
        [
            {"bootstrap": True, "criterion": "gini", "max_features": 0.8026968345397216, "min_samples_leaf": 18},
            {"bootstrap": False, "criterion": "entropy", "max_features": 0.5, "min_samples_leaf": 2},
        ],
    )
    assert imported.kb.runs()["accuracy"].tolist() == [0.96965, 0.993429]


def test_hyperparameter_called_algorithm_is_not_the_algorithm(imported):
    imported("task_id,algorithm,max_depth,accuracy\n3,SAMME,9,0.9\n", replace(FOREST, algorithm="adaboost"))

    frame = imported.kb.runs()
    assert frame["algorithm"].tolist() == ["adaboost"]
    assert frame["config.algorithm"].tolist() == ["SAMME"]


def test_run_history_keeps_loss_seconds_and_proposer(imported):
    layout = TableLayout(
        dataset_column="dataset",
        algorithm="XGBoost",
        score_columns=("loss",),
        metrics=("balanced_error",),
        lower_is_better=("loss",),
        seconds_column="time",
        proposer_column="optimizer",
        ignore_columns=("seed", "config_index", "n_evals"),
    )

    imported(
        "dataset,optimizer,seed,config_index,max_depth,eta,n_evals,loss,time\n"
        "wilt,smac,338403738,1,7,0.03178816,2,0.25,3.011\n"
        "wilt,roar_x2,338403738,1,10,0.3,5,0.04,1.16\n",
        layout,
    )

    frame = imported.kb.runs()
    assert frame["neg_balanced_error"].tolist() == [-0.25, -0.04]
    assert frame["fit_seconds"].tolist() == [3.011, 1.16]
    assert imported.kb.sql("SELECT proposer FROM proposal ORDER BY run_id")["proposer"].tolist() == ["smac", "roar_x2"]
    assert is_same(imported.configs()[1]["max_depth"], 10)


def test_failed_score_gives_a_failed_run_that_keeps_its_seconds_but_no_score(imported):
    layout = replace(FOREST, seconds_column="time", failed_score=0.0, ignore_columns=("failed",))

    report = imported("task_id,depth,accuracy,time,failed\n14,8,0.84,12.4,0\n14,9,0.0,120.2,1\n", layout)

    frame = imported.kb.runs()
    assert report.n_failed == 1
    assert frame["status"].tolist() == ["ok", "failed"]
    assert frame["fit_seconds"].tolist() == [12.4, 120.2]
    assert pd.isna(frame["accuracy"][1])
    assert "failure by the score 0" in frame["error"][1]


def test_failed_score_in_one_of_two_score_columns_is_a_result(imported):
    layout = replace(FOREST, score_columns=("accuracy", "f1"), failed_score=0.0)

    report = imported("task_id,depth,accuracy,f1\n14,8,0.3,0\n14,9,0,0\n", layout)

    assert report.n_failed == 1
    assert imported.kb.runs()["status"].tolist() == ["ok", "failed"]


def test_dict_column_gives_each_algorithm_its_own_hyperparameters(imported):
    layout = TableLayout(
        dataset_column="dataset",
        algorithm_column="algorithm",
        config_column="parameters",
        score_columns=("accuracy", "macrof1"),
        metrics=("accuracy", "f1_macro"),
    )

    report = imported(
        "dataset\talgorithm\tparameters\taccuracy\tmacrof1\n"
        "adult\tTree\t{'max_features': 'log2', 'max_depth': None, 'word': 'None', 'leaf': 0.0}\t0.479\t0.47\n"
        'adult\tTree\t{"max_features": 3, "max_depth": null, "word": "x", "leaf": 1}\t0.5\t0.4\n'
        "adult\tSVC\t{'shrinking': True, 'layers': (3, 4)}\t0.6\t0.5\n",
        layout,
        name="runs.tsv.gz",
    )

    assert report.algorithms == ("Tree", "SVC")
    assert is_same(
        imported.configs(),
        [
            {"max_features": "log2", "max_depth": None, "word": "None", "leaf": 0.0},
            {"max_features": 3, "max_depth": None, "word": "x", "leaf": 1.0},
            {"shrinking": True, "layers": "(3, 4)"},
        ],
    )
    assert any("layers" in note for note in report.notes)
    assert imported.kb.runs()["f1_macro"].tolist() == [0.47, 0.4, 0.5]


def test_order_of_names_in_a_dict_does_not_make_another_configuration(imported):
    layout = replace(FOREST, config_column="p")

    report = imported("task_id,p,accuracy\n1,\"{'a': 1, 'b': 2}\",0.5\n1,\"{'b': 2, 'a': 1}\",0.5\n", layout)

    assert (report.n_new, report.n_duplicates) == (1, 1)


def test_all_words_with_algorithm_column(imported):
    layout = replace(FOREST, dataset_column="dataset", algorithm=None, algorithm_column="algorithm")

    imported("dataset,algorithm,stemmer,sparsity,selection,accuracy\nn1,C5.0Tree,none,0.99,> 0,0.85\n", layout)

    assert imported.configs() == [{"stemmer": "none", "sparsity": 0.99, "selection": "> 0"}]
    assert imported.kb.runs()["algorithm"].tolist() == ["C5.0Tree"]


def test_random_bot_layout_from_r(imported):
    layout = TableLayout(
        dataset_column="data_id",
        algorithm="ranger",
        score_columns=("auc", "accuracy", "brier"),
        metrics=("roc_auc", "accuracy", "neg_brier"),
        lower_is_better=("brier",),
        seconds_column="runtime",
        speed_column="scimark",
    )

    report = imported(
        '"","data_id","num.trees","replace","min.node.size","auc","accuracy","brier","runtime","scimark"\n'
        '"1",31,1e+05,TRUE,NA,0.75,0.7,0.2,3.5,1712.2\n'
        '"2",31,268,FALSE,3,0.61,NA,0.3,1.5,1748.9\n'
        '"3",31,12,FALSE,3,NA,NA,NA,NA,\n',
        layout,
    )

    frame = imported.kb.runs()
    assert is_same(
        imported.configs(),
        [
            {"num.trees": 100000, "replace": True},
            {"num.trees": 268, "replace": False, "min.node.size": 3},
            {"num.trees": 12, "replace": False, "min.node.size": 3},
        ],
    )
    assert frame["neg_brier"].tolist()[:2] == [-0.2, -0.3]
    assert frame["status"].tolist() == ["ok", "ok", "failed"]
    assert imported.kb.sql("SELECT processor, reference_seconds FROM environment").values.tolist() == [
        ["scimark 1700", None]
    ]
    assert any("without a name" in note for note in report.notes)
    assert any("min.node.size" in note and "NA" in note for note in report.notes)


# What a cell means


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


# Duplicates, repetitions, and the same table again


def test_same_row_twice_is_a_duplicate_and_other_scores_are_repetitions(imported):
    report = imported(
        "task_id,d,accuracy\n1,5,0.5\n1,5,0.5\n1,5,0.6\n1,5,0.50000000000001\n1,5,0.7\n1,5,0.6\n1,6,0.5\n"
    )

    frame = imported.kb.runs()
    assert (report.n_new, report.n_duplicates, report.n_repetitions, report.n_clashes) == (4, 3, 2, 0)
    assert list(zip(frame["d"], frame["seed"], frame["accuracy"], strict=True)) == [
        (5, 0, 0.5),
        (5, 1, 0.6),
        (5, 2, 0.7),
        (6, 0, 0.5),
    ]


def test_importing_again_adds_nothing(imported):
    text = "task_id,d,accuracy\n1,5,0.5\n1,5,0.5\n1,5,0.6\n2,5,0\n2,5,0\n"
    layout = replace(FOREST, failed_score=0.0)
    imported(text, layout)

    again = imported(text, layout)

    assert (again.n_new, again.n_known, again.n_clashes) == (0, 3, 0)
    assert len(imported.kb.runs()) == 3


def test_failure_and_success_of_one_configuration_are_both_kept(imported):
    report = imported("task_id,d,accuracy\n1,5,0\n1,5,0.6\n", replace(FOREST, failed_score=0.0))

    assert (report.n_new, report.n_repetitions) == (2, 0)
    assert imported.kb.runs()["seed"].tolist() == [0, 0]


def test_seed_column_makes_another_score_of_the_same_seed_a_clash(imported):
    layout = replace(FOREST, seed_column="seed")

    report = imported("task_id,d,seed,accuracy\n1,5,7,0.5\n1,5,8,0.6\n1,5,7,0.9\n1,5,7,0.5\n", layout)

    frame = imported.kb.runs()
    assert (report.n_new, report.n_duplicates, report.n_repetitions, report.n_clashes) == (2, 1, 0, 1)
    assert list(zip(frame["seed"], frame["accuracy"], strict=True)) == [(7, 0.5), (8, 0.6)]


def test_other_table_with_other_scores_clashes_unless_it_has_a_fold_plan_of_its_own(imported):
    imported("task_id,d,accuracy\n1,5,0.5\n")

    clashing = imported("task_id,d,accuracy\n1,5,0.6\n")
    apart = imported("task_id,d,accuracy\n1,5,0.6\n", replace(FOREST, fold_plan="r6"))

    assert (clashing.n_new, clashing.n_clashes) == (0, 1)
    assert any("--fold-plan" in note for note in clashing.notes)
    assert (apart.n_new, apart.n_clashes) == (1, 0)
    assert imported.kb.runs()["accuracy"].tolist() == [0.5, 0.6]


def test_import_is_a_session_that_names_the_file_but_not_its_folder(imported, tmp_path):
    imported("task_id,d,accuracy\n1,5,0.5\n")

    session = imported.kb.sql("SELECT kind, settings, finished_at FROM session").iloc[0]
    run = imported.kb.runs().iloc[0]
    assert session["kind"] == "import"
    assert '"file": "runs.csv"' in session["settings"]
    assert str(tmp_path) not in session["settings"]
    assert session["finished_at"] > 0
    assert (run["origin"], run["fold_plan"], run["dataset"]) == ("imported", "imported", "openml-task:1")


# Files


def test_separator_is_seen_from_the_header(imported):
    for name, separator in (("a.csv", ";"), ("b.tsv", "\t"), ("c.txt", "|"), ("d.csv.gz", ",")):
        row = separator.join(("1", name, "0.5"))
        imported(f"task_id{separator}p{separator}accuracy\n{row}\n", name=name)

    assert [config["p"] for config in imported.configs()] == ["a.csv", "b.tsv", "c.txt", "d.csv.gz"]


def test_byte_order_mark_blank_lines_and_quotes_are_no_trouble(imported):
    imported('\ufefftask_id, p ,accuracy\r\n1," a,b ",0.5\r\n\r\n1,"two\nlines",0.6\r\n')

    assert imported.configs() == [{"p": "a,b"}, {"p": "two\nlines"}]


# What is wrong, what was seen, what to do


def test_call_in_a_dict_cell_is_refused_and_never_made(imported, tmp_path):
    trace = tmp_path / "trace"
    layout = replace(FOREST, config_column="p")

    with pytest.raises(BadTable, match=r"Line 3 of runs.csv has .*dict written in JSON or as a Python literal"):
        imported(
            f"task_id,p,accuracy\n1,{{}},0.5\n1,__import__('os').system('touch {trace}'),0.5\n",
            layout,
        )

    assert not trace.exists()
    assert imported.kb.info()["runs"] == 0
    assert imported.kb.info()["sessions"] == {}


@pytest.mark.parametrize("cell", ["[1]", "{1: 2}", "{'a': 1e999}", '"{""a"": NaN}"', "{'a': b}", "nonsense", "{" * 500])
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
        ({"word_columns": ("task_id",)}, "'task_id' is no hyperparameter"),
        ({"defaults": {"x": "1"}}, "no column 'x'.*--default"),
        ({"separator": ", "}, "not one character"),
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
        ("task_id,d,accuracy\n,5,0.5\n", "Line 2 of runs.csv has '' as 'task_id'; expected was a name"),
        ('task_id,d,accuracy\n1,"5,0.5\n', "cannot be split into cells"),
    ],
)
def test_broken_table_is_one_sentence(imported, text, said):
    with pytest.raises(BadTable, match=said):
        imported(text)


def test_column_and_dict_may_not_name_the_same_hyperparameter(imported):
    with pytest.raises(BadTable, match="'d' is a column and stands in 'p' too"):
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


# Metafeatures


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
