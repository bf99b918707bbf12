"""`metaml learn` and `metaml suggest` as a person starts them."""

import json

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from metaml_cli.main import app
from metaml_cli.suggest import _lines
from metaml_kb import DatasetRecord, open_kb
from tests.experienced import fill

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learn")
    load_iris(as_frame=True).frame.to_csv(folder / "iris.csv", index=False)
    with open_kb(folder / "kb.db") as kb:
        fill(kb)
    return folder


def call(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_learning_says_from_how_much(place):
    done = call("learn", "--kb", place / "kb.db", "--format", "json")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)[0] | {"seconds": 0} == {
        "task": "classification",
        "metric": "neg_log_loss",
        "algorithms": 2,
        "data sets": 14,
        "runs": 336,
        "seconds": 0,
    }
    assert [path.name for path in (place / "kb.db.lessons").glob("*/*")] == ["neg_log_loss-classification.lessons"]


def test_the_rankings_are_judged_on_data_sets_they_have_not_seen(place):
    output = place / "pictures"
    asked = ["--evaluate", "--algorithms", "decision_tree", "--growth", "3", "--output", output]

    done = call("learn", "--kb", place / "kb.db", *asked, "--format", "json")

    rows = {row["ranking"]: row for row in json.loads(done.stdout)}
    assert done.exit_code == 0, done.output
    assert list(rows) == ["both", "hyperparameters", "metafeatures", "neighbours"]
    assert rows["both"]["tau"] > 0.5
    assert rows["metafeatures"]["tau"] == 0.0
    assert "█" in done.stderr
    assert "by data sets known: 0:" in done.stderr
    assert (output / "tau.csv").exists()
    assert list(output.glob("growth-*.svg"))


def test_tables_are_written_without_a_growth_curve_too(place):
    output = place / "tables"
    asked = ["--evaluate", "--algorithms", "decision_tree", "--growth", "0", "--output", output]

    done = call("learn", "--kb", place / "kb.db", *asked)

    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in output.iterdir()) == ["tau.csv", "verdict.csv"]


def test_a_verdict_says_where_experience_pays_and_where_nothing_can_be_said(place):
    output = place / "verdict"

    done = call("learn", "--kb", place / "kb.db", "--evaluate", "--algorithms", "svm", "--output", output)

    table = pd.read_csv(output / "verdict.csv").set_index(["rows", "evaluations"])["verdict"]
    assert done.exit_code == 0, done.output
    assert "Does an opening from experience pay?" in done.stderr
    assert table["10,000 and more", 5] == "cannot be said"
    assert set(table) <= {"pays", "costs", "no difference found", "cannot be said"}


@pytest.mark.parametrize("command", [["learn", "--evaluate"], ["replay", "--metric", "accuracy"]])
def test_an_output_that_cannot_be_a_folder_is_noticed_before_the_work(place, command):
    done = call(*command, "--kb", place / "kb.db", "--output", place / "iris.csv")

    assert done.exit_code == 2
    assert done.stderr.startswith("metaml: The output ")
    assert "iris.csv is a file. Give another --output." in done.stderr


def test_a_suggestion_of_which_too_little_is_known_to_give_reasons_is_shown_all_the_same():
    unknown = {"rank": 1, "algorithm": "svm", "expected_sd": None, "seconds": 0.5, "config": {"C": 1.0}}

    assert _lines({**unknown, "reasons": [], "carriers": []}) == [
        " 1. svm  (too few runs to say, about 0.5 s)",
        "    C=1.0",
    ]


def test_what_did_well_on_the_same_columns_is_suggested_first(place, tmp_path):
    table = pd.read_csv(place / "iris.csv")
    table.iloc[10:].to_csv(tmp_path / "iris-of-last-week.csv", index=False)
    chosen = ["--algorithms", "decision_tree,k_neighbors", "--kb", tmp_path / "kb.db"]
    call("tune", tmp_path / "iris-of-last-week.csv", "--iterations", "4", "--output", tmp_path / "found", *chosen)

    done = call("suggest", place / "iris.csv", "-n", "1", *chosen)

    assert done.exit_code == 0, done.output
    assert "did well on the same columns: iris-of-last-week (number " in " ".join(done.stdout.split())


def test_suggestions_have_a_rank_seconds_and_reasons(place):
    done = call("suggest", place / "iris.csv", "-n", "3", "--kb", place / "kb.db", "--format", "json")

    rows = json.loads(done.stdout)
    assert done.exit_code == 0, done.output
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert all(row["reasons"] and row["seconds"] > 0 and row["config"] for row in rows)


def test_suggestions_fit_a_terminal(place):
    done = call("suggest", place / "iris.csv", "-n", "2", "--kb", place / "kb.db")

    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "because" in done.stdout


def test_too_little_experience_is_said_in_a_sentence(place, tmp_path):
    with open_kb(tmp_path / "small.db") as kb:
        fill(kb, n_datasets=2)

    done = call("suggest", place / "iris.csv", "--kb", tmp_path / "small.db")

    assert done.exit_code == 0
    assert "has runs on 2 data sets of classification, too few for suggestions" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["suggest", "nothing.csv"], "There is no file nothing.csv"),
        (["learn", "--metric", "beauty"], "beauty"),
        (
            ["learn", "--evaluate", "--algorithms", "forest"],
            "There is no algorithm forest. Choose among: random_forest,",
        ),
        (["learn", "--exclude-dataset", "word-3-multiclas"], "Did you mean world-3-multiclass or "),
    ],
)
def test_wrong_input_gets_a_sentence(place, words, told):
    done = call(*words, "--kb", place / "kb.db")

    assert done.exit_code == 2
    assert told in done.stderr
    assert "Traceback" not in done.output


def test_an_empty_knowledge_base_has_nothing_to_learn_from(tmp_path):
    with open_kb(tmp_path / "empty.db"):
        pass

    done = call("learn", "--kb", tmp_path / "empty.db")

    assert done.exit_code == 2
    assert "holds no data set to learn from" in done.stderr


def test_runs_of_unknown_task_are_not_called_none(tmp_path):
    with open_kb(tmp_path / "imported.db") as kb:
        kb.add_dataset(DatasetRecord("name:3", "3"))

    done = call("learn", "--kb", tmp_path / "imported.db")

    assert done.exit_code == 2
    assert "does not know the task of its 1 data set" in done.stderr
    assert "metaml kb import-table" in done.stderr
    assert "--task" in done.stderr


@pytest.mark.parametrize("command", ["suggest", "tune"])
def test_a_data_set_to_leave_out_that_nobody_knows_is_refused(place, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    done = call(command, place / "iris.csv", "--exclude-dataset", "zzz", "--kb", place / "kb.db")

    assert done.exit_code == 2
    assert "has no data set 'zzz' to leave out. See all with: metaml kb datasets" in done.stderr


def test_the_data_set_at_hand_may_be_left_out_though_it_is_new(place):
    words = ["--exclude-dataset", "Iris", "--exclude-dataset", "world-3-multiclass"]

    done = call("suggest", place / "iris.csv", *words, "--kb", place / "kb.db")

    assert done.exit_code == 0, done.output
