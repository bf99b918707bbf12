"""What a user sees of a result: short in a console, a table in a notebook, a run in MLflow."""

import pytest
from sklearn.datasets import load_iris

import metaml
from metaml.errors import BadRequest

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def result():
    frame = load_iris(as_frame=True).frame
    options = {"algorithms": "decision_tree", "folds": 2, "iterations": 9, "kb": ":memory:", "metric": "accuracy"}
    return metaml.tune(frame, name="<flowers>", **options)


def test_a_notebook_shows_a_table_and_escapes_names(result):
    shown = result._repr_html_() + result.model._repr_html_()

    assert shown.count("<table") == 2
    assert "<flowers>" not in shown
    assert "decision_tree" in shown


def test_a_result_says_whether_more_time_is_worth_it(result):
    assert result.advice.startswith("More time ")
    assert result.advice in result.html()


def test_a_result_is_logged_to_mlflow_with_its_files(result, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    try:
        key = result.log_mlflow(experiment="flowers")
        run = mlflow.MlflowClient().get_run(key)
    finally:
        mlflow.set_tracking_uri(before)

    assert run.data.params["algorithm"] == "decision_tree"
    assert run.data.metrics["accuracy"] == pytest.approx(result.score)
    assert len(list((tmp_path / "runs").rglob("model.zip"))) == 1


def test_without_mlflow_a_sentence_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)

    with pytest.raises(BadRequest, match=r"pip install metaml\[mlflow\]"):
        result.log_mlflow()
