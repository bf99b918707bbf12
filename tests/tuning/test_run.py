"""Tuning from the data to the files a user takes home."""

import csv
import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd
import pytest

from metaml.budget import Budget
from metaml.data import from_frame, read_dataset
from metaml.errors import BadRequest
from metaml.evaluation import Limits, LocalExecutor
from metaml.model import load
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.fallback import why_nothing
from metaml.tuning.final_model import finish
from metaml.tuning.outputs import best_code
from metaml.tuning.run import WAITING, tune
from metaml.tuning.trials import FoldModels
from metaml_kb import open_kb

FAST = ("decision_tree", "k_neighbors")


def settings_of(**changes) -> TuneSettings:
    fields = {"algorithms": FAST, "seconds": None, "n_iterations": 6, "n_folds": 3, "limits": Limits(30.0), "seed": 1}
    return TuneSettings(**{**fields, **changes})


def raw(name: str):
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(as_frame=True).frame


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    output = tmp_path_factory.mktemp("tuned")
    with open_kb(":memory:") as kb:
        result = tune(builtin.load("iris"), settings_of(), kb=kb, output=output)
        yield output, result, kb.runs()


def test_the_folder_holds_everything(tuned):
    output, _, _ = tuned

    assert sorted(path.name for path in output.iterdir()) == [
        "best.json", "best.py", "leaderboard.csv", "model.zip", "report.html",
    ]  # fmt: skip


def test_the_model_predicts_the_original_labels(tuned):
    output, result, _ = tuned

    model = load(output)
    answer = model.answer(raw("iris").drop(columns="target"))

    assert set(answer.predictions) == {"setosa", "versicolor", "virginica"}
    assert np.allclose(answer.probabilities.sum(axis=1), 1.0)
    assert model.score == result.finished.score


def test_the_choice_is_not_worse_than_any_single_run(tuned):
    _, result, _ = tuned

    assert result.finished.score >= result.found.ranked[0].score - 1e-9


def test_leaderboard_and_summary_tell_every_run(tuned):
    output, result, runs = tuned

    rows = list(csv.DictReader((output / "leaderboard.csv").read_text().splitlines()))
    best = json.loads((output / "best.json").read_text())

    assert len(rows) == len(runs) == len(result.found.trials) == 6
    assert best["dataset"]["name"] == "iris"


def test_the_ledger_adds_up_to_the_wall_time(tuned):
    _, result, _ = tuned

    assert sum(result.report.ledger.values()) == pytest.approx(result.report.session.used_seconds, abs=0.5)


def test_best_py_scores_what_was_stored(tuned, tmp_path):
    output, result, _ = tuned
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


def test_best_py_without_a_file_says_how_it_is_used(tuned):
    output, _, _ = tuned

    done = subprocess.run([sys.executable, str(output / "best.py")], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "Name the file that holds the data: python best.py PATH_OF_THE_DATA\n"


def test_for_a_metric_of_labels_the_score_is_that_after_thresholds_everywhere(tmp_path):
    frame = raw("breast_cancer").iloc[:300]
    frame.to_csv(tmp_path / "cancer.csv", index=False)
    dataset = read_dataset(tmp_path / "cancer.csv", target="target")

    result = tune(dataset, settings_of(metric="f1", n_iterations=4), output=tmp_path)

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


def test_a_budget_that_allows_nothing_gives_a_labelled_fallback(tmp_path):
    result = tune(builtin.load("diabetes"), settings_of(seconds=0.05, n_iterations=None), output=tmp_path)

    predictions = load(tmp_path).answer(raw("diabetes").drop(columns="target")).predictions
    assert result.finished.kind == "fallback"
    assert "no evaluation was complete" in result.finished.why
    assert np.isfinite(predictions.astype(float)).all()
    assert "fallback" in (tmp_path / "report.html").read_text().lower()


def test_a_fallback_leaves_no_code_of_an_earlier_search_beside_it(tmp_path):
    (tmp_path / "best.py").write_text("SCORE = 0.9")

    tune(builtin.load("iris"), settings_of(seconds=0.01), output=tmp_path)

    assert not (tmp_path / "best.py").exists()


def test_a_refit_that_did_not_succeed_is_told_with_its_time_and_its_limits():
    iris, settings = builtin.load("iris"), settings_of(refits=True)
    found = tune(iris, settings_of(n_iterations=2)).found

    with LocalExecutor(1, registry="tests.refusing:REFUSING", preload=()) as executor, FoldModels() as models:
        executor.add(iris)
        finished = finish(iris, found, executor, settings, Budget(None), models=models)

    assert finished.kind == "fallback"
    assert finished.refit_seconds > 0
    assert finished.why.endswith("to all rows within its limits; raise --limit-seconds or --limit-memory")


def test_a_single_model_can_be_asked_for():
    result = tune(builtin.load("iris"), settings_of(n_iterations=4), single=True)

    assert (result.finished.kind, len(result.finished.model.members)) == ("single", 1)


def test_a_model_of_values_averages_what_was_fitted_to_the_folds():
    result = tune(builtin.load("diabetes"), settings_of(n_iterations=4))

    assert {len(member.estimators) for member in result.finished.model.members} == {3}
    assert result.finished.refit_seconds < 5


def test_a_model_that_predicts_sooner_can_be_asked_for():
    result = tune(builtin.load("diabetes"), settings_of(n_iterations=4, refits=True))

    assert {len(member.estimators) for member in result.finished.model.members} == {1}


def test_a_score_of_labels_that_few_rows_decide_is_not_called_after_thresholds():
    result = tune(builtin.load("iris"), settings_of(n_iterations=2, metric="accuracy"))

    assert not result.report.is_after_thresholds


def test_an_ensemble_that_must_be_sure_is_fitted_anew_and_a_single_model_is_not(tuned):
    _, result, _ = tuned
    n_members = len(result.finished.model.members)

    assert {len(member.estimators) for member in result.finished.model.members} == ({3} if n_members == 1 else {1})


def test_a_model_of_a_part_of_the_rows_is_fitted_to_all_of_them():
    result = tune(builtin.load("diabetes"), settings_of(n_iterations=3, max_rows=100))

    assert {len(member.estimators) for member in result.finished.model.members} == {1}


def test_an_output_that_cannot_be_written_is_noticed_before_the_search(tmp_path):
    (tmp_path / "taken").write_text("a file")

    with pytest.raises(BadRequest, match="is a file"):
        tune(builtin.load("iris"), settings_of(), output=tmp_path / "taken" / "result")


@pytest.mark.parametrize("folder", ["/proc/result", "/proc"])
def test_an_output_that_the_system_refuses_is_noticed_before_the_search(folder):
    with pytest.raises(BadRequest, match=f"Nothing can be written into the output {folder}: "):
        tune(builtin.load("iris"), settings_of(), output=Path(folder))


def test_an_output_is_not_made_by_a_search_that_is_refused(tmp_path):
    with pytest.raises(BadRequest, match="does not fit"):
        tune(builtin.load("iris"), settings_of(metric="rmse"), output=tmp_path / "a" / "b")

    assert not (tmp_path / "a").exists()


def test_a_search_whose_files_cannot_be_written_at_the_end_is_resumed(tmp_path):
    output, dataset = tmp_path / "out", builtin.load("iris")
    in_the_way = output / "report.html"
    in_the_way.mkdir(parents=True)

    with open_kb(tmp_path / "kb.db", create=True) as kb:
        with pytest.raises(BadRequest, match=r"Not all files in .* can be written: Is a directory.* With --resume"):
            tune(dataset, settings_of(), kb=kb, output=output)
        in_the_way.rmdir()
        resumed = tune(dataset, settings_of(), kb=kb, output=output, resume=True)

        assert len(kb.runs()) == len(resumed.found.trials) == 6
    assert in_the_way.is_file()


def test_a_data_set_may_have_any_name_in_the_code_that_is_written(tuned):
    _, result, _ = tuned
    hostile = replace(builtin.load("iris"), name='x"""\nraise SystemExit("ran")\n"""')

    code = best_code(hostile, result.found, result.report)

    assert "raise SystemExit" not in [line.strip()[:16] for line in code.splitlines()]
    compile(code, "best.py", "exec")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"limits": Limits(30.0, 0.001)}, "no evaluation kept to 0.001 MB of memory; raise --limit-memory"),
        ({"limits": Limits(0.0001)}, "no evaluation was complete within 0.0001 s; raise --limit-seconds"),
        ({"n_iterations": None, "seconds": 0.05}, "when the time was up; give more time"),
    ],
    ids=["memory", "seconds", "time"],
)
def test_a_fallback_says_what_would_help(changes, reason):
    frame = pd.DataFrame({"a": np.arange(40.0), "y": [0, 1] * 20})

    result = tune(from_frame(frame, target="y"), settings_of(**{"n_iterations": 2, **changes}))

    assert result.finished.kind == "fallback"
    assert reason in result.finished.why


def test_a_fallback_for_want_of_a_defined_score_says_so():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0], "y": ["x", "z", "x", "z", "x"]})

    result = tune(from_frame(frame, target="y"), settings_of(n_iterations=2, n_folds=5))

    assert (
        result.finished.why == "no evaluation has a defined ROC AUC; give more rows, fewer --folds or another --metric"
    )


def test_a_fallback_of_a_search_that_was_stopped_says_so():
    result = tune(builtin.load("iris"), settings_of(), should_stop=lambda: True)

    assert result.finished.why == "the search was stopped before an evaluation was complete"


def test_a_single_evaluation_that_went_wrong_is_told_as_one():
    found = tune(builtin.load("iris"), settings_of(n_iterations=1)).found
    trial = found.trials[0]
    crashed = replace(trial, outcome=replace(trial.outcome, status="crashed", error="the worker died"))

    why = why_nothing(replace(found, trials=(crashed,)), settings_of(), is_stopped=False)

    assert why == "the only evaluation went wrong: the worker died"


def test_where_no_evaluation_is_complete_what_was_fitted_to_some_folds_is_the_fallback(tmp_path):
    digits = builtin.load("digits")
    settings = settings_of(algorithms=("mlp",), n_folds=10)

    has_stopped = Event()

    def stop_after_a_fold() -> bool:
        if executor._folds:
            has_stopped.set()
        return has_stopped.is_set()

    with LocalExecutor(1) as executor:
        result = tune(digits, settings, executor=executor, output=tmp_path, should_stop=stop_after_a_fold)

    assert result.found.ranked == []
    assert result.finished.kind == "fallback"
    assert re.fullmatch(
        r"the search was stopped before an evaluation was complete "
        r"\(what was saved is mlp as fitted to \d of 10 folds\)",
        result.finished.why,
    )
    assert (load(tmp_path).predict(digits.X) == digits.y).mean() > 0.9


def test_a_knowledge_base_that_others_hold_makes_no_search_late_and_loses_no_run(tmp_path):
    place, notes, held = tmp_path / "kb.db", [], []
    with open_kb(place) as kb, sqlite3.connect(place, isolation_level=None) as other:

        def hold(_: object) -> None:
            if not held:
                other.execute("BEGIN IMMEDIATE")
                held.append(True)

        def release(note: str) -> None:
            notes.append(note)
            other.execute("ROLLBACK")

        settings = TuneSettings(algorithms=("decision_tree", "k_neighbors"), seconds=4.0, uses_memory=False)
        tuned = tune(
            builtin.load("iris"), settings, kb=kb, output=tmp_path / "found", on_progress=hold, on_note=release
        )

        assert notes == [WAITING.format(tmp_path / "found", place)]
        assert len(kb.runs()) == len(tuned.found.trials) > 1
        assert tuned.found.error == ""


def test_a_search_uses_as_many_workers_as_its_executor_has():
    with LocalExecutor(2, preload=()) as executor:
        result = tune(builtin.load("iris"), settings_of(n_workers=1, n_iterations=2), executor=executor)

    assert result.report.session.n_workers == 2
