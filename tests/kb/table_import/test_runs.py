"""Third-party tables: small samples of our own in the shapes of tables that people have published."""

from dataclasses import replace

import pandas as pd
import pytest

from metaml_kb.errors import BadTable
from metaml_kb.table_import.runs import TableLayout
from tests.kb.table_import.importer import FOREST, is_same


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


@pytest.mark.parametrize("score", ["high", "85%", "0,85", "inf", "1_0", "0x1"])
def test_score_that_is_no_number_is_told_with_its_line_and_nothing_is_stored(imported, score):
    with pytest.raises(BadTable, match=f"Line 3 of runs.csv has '{score}' as 'accuracy'"):
        imported(f"task_id;d;accuracy\n1;5;0.5\n1;6;{score}\n")

    assert imported.kb.info()["datasets"] == 0


def test_column_and_dict_may_not_name_the_same_hyperparameter(imported):
    with pytest.raises(BadTable, match="'d' is a column and also a name in 'p'"):
        imported("task_id,d,p,accuracy\n1,5,{'d': 1},0.5\n", replace(FOREST, config_column="p"))
