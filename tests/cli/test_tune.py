"""`metaml tune` as a person starts it."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from sklearn.datasets import load_iris

from metaml.algorithms import SEARCHED
from metaml.records.session_keys import SEARCH_PLAN
from metaml.search.settings import TuneSettings
from metaml.tuning.finished import Chosen
from metaml.tuning.session import TuneProgress
from metaml.tuning.stopping.progress import progress_text
from metaml_cli.tune import _summary
from metaml_kb import DatasetRecord, open_kb
from tests.cli.terminal import metaml

METAML = [sys.executable, "-m", "metaml_cli"]

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture
def iris_csv(tmp_path):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


def environment(tmp_path) -> dict[str, str]:
    return {**os.environ, "METAML_KB": str(tmp_path / "kb.db")}


def test_tune_then_predict(iris_csv, tmp_path):
    output, kb = tmp_path / "out", tmp_path / "kb.db"

    tuned = metaml(
        *("tune", iris_csv, "--iterations", 3, "--algorithms", "decision_tree", "--output", output, "--kb", kb),
        "--predictions",
    )
    metaml("predict", output, iris_csv, "-o", tmp_path / "predictions.csv", "--proba")

    assert "Cross-validated log loss" in tuned.stderr
    assert pd.read_csv(tmp_path / "predictions.csv").columns.tolist() == ["prediction", "0", "1", "2"]
    with open_kb(kb) as base:
        assert len(base.runs(session="tune")) == 3
    table = pd.read_csv(output / "predictions.csv")
    assert table.columns.tolist() == ["row", "prediction", "0", "1", "2"]
    assert table["row"].tolist() == list(range(150))
    assert (table["prediction"] == pd.read_csv(iris_csv)["target"]).mean() > 0.8


def test_a_search_leaves_out_algorithms_that_must_be_asked_for(iris_csv, tmp_path):
    kb = tmp_path / "kb.db"

    metaml("tune", iris_csv, "--iterations", 1, "--kb", kb, "--output", tmp_path / "out")

    with sqlite3.connect(kb) as connection:
        (settings,) = connection.execute("SELECT settings FROM session ORDER BY id DESC LIMIT 1").fetchone()
    assert sorted(json.loads(settings)[SEARCH_PLAN]["algorithms"]) == sorted(SEARCHED)


LONG = ("--time-budget", "5m", "--algorithms", "decision_tree")


def test_ctrl_c_finishes_a_search_with_what_is_there(iris_csv, tmp_path):
    process = subprocess.Popen(
        [*METAML, "tune", str(iris_csv), *LONG, "--output", str(tmp_path / "out")],
        env=environment(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
    )
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


@pytest.fixture
def heard(sent) -> Iterator[None]:
    """Where the tests run under nohup, SIGHUP is turned off, and would stay so."""
    before = signal.signal(sent, signal.default_int_handler)
    yield
    signal.signal(sent, before)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_search_that_is_asked_to_end_finishes_with_what_is_there(iris_csv, tmp_path, sent, code):
    sender = threading.Thread(target=after_first_run, args=(tmp_path / "kb.db", partial(os.kill, os.getpid(), sent)))
    sender.start()

    done = metaml(
        *("tune", iris_csv, *LONG, "--output", tmp_path / "out", "--kb", tmp_path / "kb.db"),
        code=code,
    )

    sender.join()
    assert (tmp_path / "out" / "model.zip").exists()
    assert "Report:" in done.stderr


def after_first_run(path: Path, act: Callable[[], object], n_earlier: int = 0) -> None:
    """Do something once a search has stored a run."""
    while n_runs(path) <= n_earlier:
        time.sleep(0.01)
    act()


def test_a_search_that_nobody_watches_any_more_goes_on(iris_csv, tmp_path):
    words = ["tune", str(iris_csv), "--iterations", "2", "--algorithms", "decision_tree"]
    process = subprocess.Popen(
        [*METAML, *words, "--output", str(tmp_path / "out")], env=environment(tmp_path), stderr=subprocess.PIPE
    )
    assert process.stderr is not None

    process.stderr.close()
    code = process.wait(timeout=60)

    assert code == 0
    assert (tmp_path / "out" / "model.zip").exists()


N_EARLIER = 300
"""Runs that a knowledge base has before the search: its file has more pages than its schema needs."""


def fill(path: Path, run_of) -> None:
    with open_kb(path) as kb:
        kb.add_dataset(DatasetRecord("f" * 32, "other", task="multiclass"))
        kb.add_runs(run_of(n) for n in range(N_EARLIER))


def searched_while(act: Callable[[], object], iris_csv: Path, tmp_path: Path) -> str:
    """Return what a search prints if something happens to its knowledge base after the first run."""
    kb = tmp_path / "kb.db"
    other = threading.Thread(target=after_first_run, args=(kb, act, N_EARLIER))
    other.start()
    words = ["--iterations", 25, "--algorithms", "decision_tree", "--output", tmp_path / "out"]
    done = metaml("tune", iris_csv, *words, "--kb", kb, code=1)
    other.join()
    return done.stderr


def test_a_knowledge_base_that_is_cut_under_a_search_does_not_keep_it_from_a_model(iris_csv, tmp_path, run_of):
    fill(tmp_path / "kb.db", run_of)

    told = searched_while(lambda: os.truncate(tmp_path / "kb.db", 100_000), iris_csv, tmp_path)

    assert "The search ended early" in told
    assert "is not a metaml knowledge base, or it is damaged" in told
    assert "Only a fallback" not in told
    assert (tmp_path / "out" / "model.zip").exists()


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_knowledge_base_that_is_gone_under_a_search_is_rescued(iris_csv, tmp_path, run_of, is_replaced):
    fill(tmp_path / "kb.db", run_of)
    new = shutil.copy(tmp_path / "kb.db", tmp_path / "new.db").read_bytes()
    act = partial(os.replace, tmp_path / "new.db", tmp_path / "kb.db") if is_replaced else (tmp_path / "kb.db").unlink

    told = searched_while(act, iris_csv, tmp_path)

    assert "was deleted or replaced by another program" in told
    assert (tmp_path / "out" / "model.zip").exists()
    (rescued,) = tmp_path.glob("kb.rescued-*.db")
    n_evaluations = int(re.search(r"([\d,]+) evaluations in", told)[1].replace(",", ""))
    with open_kb(rescued, create=False) as kb:
        assert len(kb.runs()) == N_EARLIER + n_evaluations
        assert kb.sessions("tune", unfinished=True).empty
    assert not list(tmp_path.glob("kb.db-*"))
    assert ((tmp_path / "kb.db").read_bytes() == new) if is_replaced else not (tmp_path / "kb.db").exists()


def test_a_metric_that_does_not_fit_is_refused(iris_csv, tmp_path):
    done = metaml("tune", iris_csv, "--metric", "rmse", "--no-kb", "--output", tmp_path / "out", code=2)

    assert "does not fit the multiclass target" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_killed_search_is_resumed_and_repeats_nothing(iris_csv, tmp_path):
    output = tmp_path / "out"
    words = ["--iterations", "14", "--seed", "7", "--algorithms", "decision_tree,k_neighbors", "--output", str(output)]
    command = ["tune", str(iris_csv), *words]
    metaml(*command, "--kb", tmp_path / "whole.db")
    process = subprocess.Popen([*METAML, *command], env=environment(tmp_path), stderr=subprocess.DEVNULL)
    while process.poll() is None and n_runs(tmp_path / "kb.db") < 4:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = n_runs(tmp_path / "kb.db")

    done = metaml(*command, "--kb", tmp_path / "kb.db", "--resume")

    assert 4 <= before < 14
    with open_kb(tmp_path / "kb.db") as kb, open_kb(tmp_path / "whole.db") as uncut:
        assert kb.runs()["run"].tolist() == uncut.runs()["run"].tolist()
        assert len(kb.sql("SELECT key FROM session WHERE kind = 'tune'")) == 1
    assert "14 evaluations" in done.stderr
    assert "Nothing to resume" not in done.stderr
    assert not (output / ".unfinished").exists()


def n_runs(path) -> int:
    if not path.exists():
        return 0
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return int(base.execute("SELECT count(*) FROM run").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        base.close()


@pytest.mark.parametrize(
    ("score", "told"), [(-1e-200, "1e−200"), (-1e200, "1e+200"), (-123456.789, "123,457"), (-0.12345, "0.1235")]
)
def test_a_score_of_any_size_can_be_read_from_the_live_line(score, told):
    best = SimpleNamespace(score=score, run=SimpleNamespace(algorithm="svm"))
    progress = TuneProgress(3, 12.0, "neg_rmse", best, best, TuneSettings(seconds=None, n_iterations=5))

    line = progress_text(progress)

    assert f"best RMSE {told} (svm)" in line


def test_one_evaluation_is_told_as_one_and_the_command_to_predict_can_be_copied(iris_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--iterations", 1, "--algorithms", "decision_tree", "--no-kb", "--output", "odd dir"]

    done = metaml("tune", iris_csv, *words)

    assert "1/1 run   best" in done.stderr
    assert "\n1 evaluation in " in done.stderr
    assert "(single model).\n" in done.stderr
    assert "Predict: metaml predict 'odd dir' NEW.csv" in done.stderr


def test_a_summary_tells_how_many_members_it_does_not_list():
    trial = SimpleNamespace(run=SimpleNamespace(algorithm="svm"), layer=1)
    model = SimpleNamespace(n_layers=1)
    finished = SimpleNamespace(
        kind="ensemble",
        chosen=[Chosen(trial, 0.125)] * 8,
        score=0.9,
        model=model,
        measured=None,
        shipped="refit to all rows",
        why_shipped="--refit asks for it",
    )
    found = SimpleNamespace(forecast=None, trials=[trial] * 8, metric="roc_auc", plan=SimpleNamespace(n_folds=5))
    report = SimpleNamespace(is_after_thresholds=False, own_test=None)

    tuned = SimpleNamespace(finished=finished, found=found, report=report, seconds=3.0, front=None)

    lines = _summary(tuned, Path("out")).split("\n")

    assert lines[1] == "Cross-validated ROC AUC: 0.9000 (ensemble of 8)."
    assert lines[8] == "  … and 2 more"


def test_a_search_in_a_process_that_is_older_than_the_command_has_all_its_time(iris_csv, tmp_path, monkeypatch):
    monkeypatch.setattr("metaml.budget.seconds_alive", lambda: 3600.0)
    words = ["--time-budget", "9s", "--iterations", 2, "--algorithms", "decision_tree", "--no-kb"]

    done = metaml("tune", iris_csv, *words, "--output", tmp_path / "found")

    assert "fallback" not in done.output


def test_a_planted_leak_is_told_and_can_be_left_out(iris_csv, tmp_path):
    table = pd.read_csv(iris_csv)
    table.insert(0, "paid", table["target"] * 2.5)
    table.to_csv(iris_csv, index=False)
    words = ["tune", iris_csv, "--iterations", 1, "--algorithms", "decision_tree", "--no-kb", "--output"]

    warned = metaml(*words, tmp_path / "warned")
    without = metaml(*words, tmp_path / "without", "--ignore", "paid")
    again = [sys.executable, str(tmp_path / "without" / "best.py"), str(iris_csv)]
    repeated = subprocess.run(again, capture_output=True, text=True, check=False)
    shown = metaml("show", tmp_path / "warned")

    sentence = "The column 'paid' alone nearly determines 'target'."
    assert f"Warning: {sentence}" in warned.stderr
    assert sentence.replace("'", "&#x27;") in (tmp_path / "warned" / "report.html").read_text()
    assert "Warning      The column 'paid'" in shown.stdout
    assert "Warning" not in without.stderr
    best = json.loads((tmp_path / "without" / "best.json").read_text())["best"]
    assert float(repeated.stdout) == pytest.approx(best["score"]), repeated.stderr
