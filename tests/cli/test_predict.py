"""`metaml predict` answers for new rows with nothing but a model file."""

import io
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame, read_dataset
from metaml.model import Model, fit_member, load
from metaml.model.uncertainty import Uncertainty
from metaml_cli import predict
from metaml_cli.main import app

ROWS = pd.DataFrame(
    {
        "size": np.linspace(0, 1, 60).round(3),
        "colour": np.tile(["red", "green", "blue"], 20),
        "weight": np.arange(60) % 7,
    }
)


def saved(folder, target, task=None):
    return saved_model(from_frame(ROWS.assign(y=target), target="y", task=task), folder)


def saved_model(dataset, folder):
    algorithm = ALGORITHMS["decision_tree"]
    member = fit_member(dataset, algorithm, algorithm.space(dataset.task).default(), seed=0)
    return Model.of(dataset, [member], metric="accuracy").save(folder)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a model of two classes and a table to predict, as the current directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    saved(tmp_path / "results", np.where(ROWS["size"] > 0.5, "large", "small"))
    ROWS[::-1].to_csv("new.csv", index=False)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["predict", *arguments])


def test_predictions_are_written_in_the_order_of_the_rows(folder):
    result = run("results", "new.csv", "-o", "out.csv")

    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr == "60 predictions of 'y' are in out.csv.\n"
    written = pd.read_csv("out.csv")
    assert written.columns.tolist() == ["prediction"]
    assert written["prediction"].tolist() == ["large"] * 30 + ["small"] * 30


def test_proba_adds_a_column_for_each_label(folder):
    result = run("results/model.zip", "new.csv", "-o", "-", "--proba")

    table = pd.read_csv(io.StringIO(result.stdout))
    assert table.columns.tolist() == ["prediction", "large", "small"]
    assert (table["large"] + table["small"]).tolist() == pytest.approx([1.0] * 60)
    assert result.stderr == ""


def test_a_number_is_predicted_as_a_number(folder):
    saved(folder / "number.zip", ROWS["size"] * 10, task="regression")

    result = run("number.zip", "new.csv")

    values = pd.read_csv(io.StringIO(result.stdout))["prediction"]
    assert values.iloc[0] > values.iloc[-1]
    assert "leave --proba out" in run("number.zip", "new.csv", "--proba").stderr


def test_what_the_table_lacks_is_told_on_standard_error(folder):
    ROWS.drop(columns="weight").replace("red", "pink").to_csv("odd.csv", index=False)

    result = run("results", "odd.csv")

    assert len(result.stdout.splitlines()) == 61
    assert result.stderr == (
        "Note: The table has no column weight: read as missing values.\n"
        "Note: Cells with values that the training data did not have were read as missing: colour (20).\n"
    )


def test_numbers_are_read_the_european_way_if_the_training_data_were(folder):
    lines = [f"{price:.1f};{price % 7}".replace(".", ",") for price in range(900, 2100, 20)]
    (folder / "prices.csv").write_text("\n".join(["price;rest", *lines]))
    train = read_dataset(folder / "prices.csv", target="rest", task="regression")
    saved_model(train, folder / "prices.zip")
    (folder / "new.csv").write_text("price;note\n1.234;a\n")
    (folder / "plain.csv").write_text("price;note\n1234;a\n")

    assert run("prices.zip", "new.csv").stdout == run("prices.zip", "plain.csv").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "new.csv"], "There is no model at nowhere"),
        (["new.csv", "new.csv"], "new.csv is no metaml model"),
        (["results", "missing.csv"], "There is no file missing.csv"),
        (["results", "poor.csv"], "lacks 2 of the 3 columns"),
        (["results", "new.csv", "-o", "no/such/folder.csv"], "cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_said_in_a_sentence(folder, arguments, said):
    ROWS[["weight"]].to_csv("poor.csv", index=False)

    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("metaml: ")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_changed_model_is_refused(folder):
    content = bytearray((folder / "results" / "model.zip").read_bytes())
    content[len(content) // 2] ^= 255
    (folder / "results" / "model.zip").write_bytes(content)

    result = run("results", "new.csv")

    assert result.exit_code == 2
    assert "metaml: results/model.zip" in result.stderr


def test_no_knowledge_base_is_touched(folder):
    script = (
        "import sys; from metaml_cli.main import app\n"
        "app(['predict', 'results', 'new.csv'], standalone_mode=False)\n"
        "print('sqlalchemy' in sys.modules, file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stderr.splitlines()[-1] == "False"


def test_a_class_named_prediction_has_a_column_of_its_own(folder):
    saved(folder / "results", np.where(ROWS["size"] > 0.5, "prediction", "other"))

    written = pd.read_csv(io.StringIO(run("results", "new.csv", "--proba").stdout))

    assert written.columns.tolist() == ["prediction", "other", "prediction_2"]


def test_a_line_ticks_while_predicting(folder, monkeypatch):
    told = []

    @contextmanager
    def spied(line):
        told.append("ticks")
        yield
        told.append("ends")

    monkeypatch.setattr(predict, "ticking", spied)
    monkeypatch.setattr(predict.LiveLine, "phase", lambda _, name: told.append(name))

    run("results", "new.csv")

    assert told == ["ticks", "loading the model", "reading", "predicting 60 rows", "writing", "ends"]


def test_one_prediction_is_in_the_singular(folder):
    ROWS.head(1).to_csv("new.csv", index=False)

    assert run("results", "new.csv", "-o", "out.csv").stderr == "1 prediction of 'y' is in out.csv.\n"


def test_intervals_are_columns_beside_the_predictions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ROWS.drop(columns="weight").to_csv("new.csv", index=False)
    for folder, y in (("numbers", ROWS["size"] * 3), ("classes", np.where(ROWS["size"] > 0.5, "large", "small"))):
        (tmp_path / folder).mkdir()
        saved(tmp_path / folder, y)
        model = load(folder)
        replace(model, uncertainty=Uncertainty(np.linspace(0, 1, 60), np.zeros(60, dtype=int))).save(folder)

    numbers = pd.read_csv(io.StringIO(run("numbers", "new.csv", "--interval", "0.9").stdout))
    classes = pd.read_csv(io.StringIO(run("classes", "new.csv", "--interval", "0.98").stdout))

    assert numbers.columns.tolist() == ["prediction", "low", "high"]
    assert (numbers["high"] - numbers["prediction"]).to_numpy() == pytest.approx(0.915, abs=0.02)
    assert set(classes["set"]) == {"large | small", "small | large"}


def test_a_model_that_does_not_know_its_errors_gives_no_interval(folder):
    result = run("results", "new.csv", "--interval", "0.5")

    assert result.exit_code == 2
    assert result.stderr.startswith("metaml: The model does not know its errors")
    assert result.stderr.count("\n") == 1


def test_a_saved_model_is_scored_on_labelled_rows(folder):
    ROWS.assign(y=np.where(ROWS["size"] > 0.5, "big", "small")).to_csv("labelled.csv", index=False)
    saved(folder, np.where(ROWS["size"] > 0.5, "big", "small"))

    done = CliRunner().invoke(app, ["evaluate", str(folder), "labelled.csv", "--format", "csv"])

    table = pd.read_csv(io.StringIO(done.stdout)).set_index("metric")
    assert done.exit_code == 0
    assert table.index[0] == "accuracy"
    assert table.loc["accuracy", ["score", "n_rows"]].tolist() == [1.0, 60.0]
    assert {"roc_auc", "neg_log_loss"} <= set(table.index)


def test_rows_without_the_target_and_a_metric_of_another_task_are_refused(folder):
    ROWS.to_csv("unlabelled.csv", index=False)
    ROWS.assign(y=np.where(ROWS["size"] > 0.5, "big", "small")).to_csv("labelled.csv", index=False)
    saved(folder, np.where(ROWS["size"] > 0.5, "big", "small"))

    unlabelled = CliRunner().invoke(app, ["evaluate", str(folder), "unlabelled.csv"])
    other = CliRunner().invoke(app, ["evaluate", str(folder), "labelled.csv", "--metric", "rmse"])

    assert (unlabelled.exit_code, other.exit_code) == (2, 2)
    assert "'y'" in unlabelled.output
    assert "is not for a binary target" in other.output
