"""`metaml tune` as a person starts it."""

import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from metaml_kb import open_kb

METAML = [sys.executable, "-m", "metaml_cli"]


@pytest.fixture
def iris_csv(tmp_path):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


def environment(tmp_path) -> dict[str, str]:
    return {**os.environ, "METAML_KB": str(tmp_path / "kb.db")}


def test_tune_then_predict(iris_csv, tmp_path):
    output = tmp_path / "out"
    tune = ["tune", str(iris_csv), "--iterations", "3", "--algorithms", "decision_tree", "--output", str(output)]
    predict = ["predict", str(output), str(iris_csv), "-o", str(tmp_path / "predictions.csv"), "--proba"]

    tuned = subprocess.run([*METAML, *tune], env=environment(tmp_path), capture_output=True, text=True, check=False)
    done = subprocess.run([*METAML, *predict], capture_output=True, text=True, check=False)

    assert tuned.returncode == 0, tuned.stderr
    assert "Cross-validated log loss" in tuned.stderr
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(tmp_path / "predictions.csv").columns.tolist() == ["prediction", "0", "1", "2"]
    with open_kb(tmp_path / "kb.db") as kb:
        assert len(kb.runs(session="tune")) == 3


def test_ctrl_c_finishes_with_what_is_there(iris_csv, tmp_path):
    command = [
        "tune",
        str(iris_csv),
        "--time-budget",
        "5m",
        "--algorithms",
        "decision_tree",
        "--output",
        str(tmp_path / "out"),
    ]
    process = subprocess.Popen([*METAML, *command], env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = ""
    while "best log loss" not in line:
        line = process.stderr.readline()
        assert line

    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60)[1]

    assert process.returncode == 130, rest
    assert (tmp_path / "out" / "model.zip").exists()
    assert "Report:" in rest


def test_a_metric_that_does_not_fit_is_refused(iris_csv, tmp_path):
    command = ["tune", str(iris_csv), "--metric", "rmse", "--output", str(tmp_path / "out")]

    done = subprocess.run([*METAML, *command], env=environment(tmp_path), capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "does not fit the multiclass target" in done.stderr
    assert not (tmp_path / "out").exists()
