"""The files of a session: model, report, leaderboard, and the best configuration as JSON and as code."""

import csv
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from metaml.data import read_dataset
from metaml.sources import builtin
from metaml.tuning.outputs import best_code
from metaml.tuning.run import tune
from tests.tuning.sessions import raw, settings_of


def test_the_folder_holds_everything(finished):
    output, _, _ = finished

    assert sorted(path.name for path in output.iterdir()) == [
        "best.json", "best.py", "best_without_metaml.py", "leaderboard.csv", "model.zip", "report.html",
    ]  # fmt: skip


def test_leaderboard_and_summary_tell_every_run(finished):
    output, result, runs = finished

    rows = list(csv.DictReader((output / "leaderboard.csv").read_text().splitlines()))
    best = json.loads((output / "best.json").read_text())

    assert len(rows) == len(runs) == len(result.found.trials) == 6
    assert best["dataset"]["name"] == "iris"


def test_best_py_scores_what_was_stored(finished, tmp_path):
    output, result, _ = finished
    frame = raw("iris")
    frame["target"] = np.array(["setosa", "versicolor", "virginica"])[frame["target"]]
    frame.to_csv(tmp_path / "iris.csv", index=False)

    done = subprocess.run(
        [sys.executable, str(output / "best.py"), str(tmp_path / "iris.csv")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert float(done.stdout) == pytest.approx(result.found.ranked[0].score, abs=1e-9)


def test_best_py_without_a_file_says_how_it_is_used(finished):
    output, _, _ = finished

    done = subprocess.run([sys.executable, str(output / "best.py")], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "Name the file that holds the data: python best.py PATH_OF_THE_DATA\n"


def test_for_a_metric_of_labels_the_score_is_that_after_thresholds_everywhere(one_worker, tmp_path):
    frame = raw("breast_cancer").iloc[:300]
    frame.to_csv(tmp_path / "cancer.csv", index=False)
    dataset = read_dataset(tmp_path / "cancer.csv", target="target")

    result = tune(dataset, settings_of(metric="f1", n_iterations=4), output=tmp_path, executor=one_worker)

    best = result.found.ranked[0]
    done = subprocess.run(
        [sys.executable, str(tmp_path / "best.py"), str(tmp_path / "cancer.csv")],
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads((tmp_path / "best.json").read_text())
    first = next(csv.DictReader((tmp_path / "leaderboard.csv").read_text().splitlines()))
    assert best.score != best.outcome.score("f1")
    assert float(done.stdout) == pytest.approx(best.score, abs=1e-9)
    assert float(first["score"]) == told["best"]["score"] == best.score
    assert told["model"]["score"] == result.finished.score >= best.score - 1e-9


def test_a_fallback_leaves_no_code_of_an_earlier_search_beside_it(one_worker, tmp_path):
    (tmp_path / "best.py").write_text("SCORE = 0.9")

    tune(builtin.load("iris"), settings_of(seconds=0.001), output=tmp_path, executor=one_worker)

    assert not (tmp_path / "best.py").exists()


def test_a_score_of_labels_that_few_rows_decide_is_not_called_after_thresholds(iris, one_worker):
    result = tune(iris, settings_of(n_iterations=2, metric="accuracy"), executor=one_worker)

    assert not result.report.is_after_thresholds


def test_a_data_set_may_have_any_name_in_the_code_that_is_written(finished):
    _, result, _ = finished
    hostile = replace(builtin.load("iris"), name='x"""\nraise SystemExit("ran")\n"""')

    code = best_code(hostile, result.found, result.report)

    assert "raise SystemExit" not in [line.strip()[:16] for line in code.splitlines()]
    compile(code, "best.py", "exec")
