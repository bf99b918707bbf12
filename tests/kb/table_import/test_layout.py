"""The roles of columns: a layout that does not fit the header is refused."""

from dataclasses import replace

import pytest

from metaml_kb.errors import BadTable
from metaml_kb.table_import.file import open_table
from metaml_kb.table_import.layout import assign_roles
from tests.kb.table_import.importer import FOREST


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


def roles_of(tmp_path, header, **changes):
    (tmp_path / "runs.csv").write_text(f"{header}\n")
    return assign_roles(replace(FOREST, **changes), open_table(tmp_path / "runs.csv"))


def test_a_column_without_a_role_is_a_hyperparameter(tmp_path):
    roles = roles_of(tmp_path, "task_id,depth,rate,secs,accuracy", seconds_column="secs")

    assert roles.hyperparameters == ("depth", "rate")
    assert (dict(roles.metrics), dict(roles.signs)) == ({"accuracy": "accuracy"}, {"accuracy": 1.0})


def test_a_loss_is_turned_round_and_named_so(tmp_path):
    roles = roles_of(tmp_path, "task_id,loss", score_columns=("loss",), lower_is_better=("loss",))

    assert (dict(roles.metrics), dict(roles.signs)) == ({"loss": "neg_loss"}, {"loss": -1.0})


def test_two_scores_cannot_share_a_metric(tmp_path):
    with pytest.raises(BadTable, match="Two score columns share a metric"):
        roles_of(tmp_path, "task_id,a,b", score_columns=("a", "b"), metrics=("acc", "acc"))


def test_only_what_was_set_is_kept_as_settings_of_the_import():
    settings = FOREST.settings()

    assert settings["algorithm"] == "forest"
    assert "seed_column" not in settings
