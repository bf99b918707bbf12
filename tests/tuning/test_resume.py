"""A session that was cut short: it goes on as it was, repeats nothing, and can be replayed like any other."""

import json
import platform
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from subprocess import PIPE

import numpy as np
import pandas as pd
import psutil
import pytest
from sqlalchemy import event, text

from metaml.budget import Budget
from metaml.data import from_frame
from metaml.evaluation import Limits
from metaml.experience.lesson_files import LessonRequest, learn
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.final_model import finish
from metaml.tuning.finished import Chosen
from metaml.tuning.job_batch import Ending
from metaml.tuning.replay_session import replay_session
from metaml.tuning.resume import find_unfinished
from metaml.tuning.run import tune
from metaml.tuning.session import TuneSession
from metaml.tuning.trials import FoldModels, PredictionFiles
from metaml_kb import open_kb
from tests.experienced import fill
from tests.tuning.sessions import cut_after, settings_of


def test_a_session_that_was_cut_short_goes_on_as_before_and_repeats_nothing(iris, executor, tmp_path):
    seen: list[object] = []

    with open_kb(tmp_path / "whole.db") as kb:
        whole = TuneSession(iris, kb, settings_of(), executor).run()
    with open_kb(tmp_path / "kb.db") as kb:
        prediction_files = PredictionFiles(tmp_path / "prediction_files")
        cut = TuneSession(iris, kb, settings_of(), executor, prediction_files=prediction_files).run(
            on_progress=seen.append, should_stop=lambda: len(seen) >= 4
        )
        earlier = find_unfinished(kb, iris.fingerprint, prediction_files)
        resumed = TuneSession(iris, kb, settings_of(), executor, resumed=earlier, prediction_files=prediction_files)
        found = resumed.run()
        resumed.close()
        n_runs, again = len(kb.runs()), find_unfinished(kb, iris.fingerprint, prediction_files)

    assert 0 < len(cut.trials) < 8
    assert [trial.run.identity for trial in found.trials] == [trial.run.identity for trial in whole.trials]
    assert [trial.score for trial in found.trials] == [trial.score for trial in whole.trials]
    assert all(trial.outcome.predictions is not None for trial in found.ranked)
    assert n_runs == 8
    assert again is None
    assert not (tmp_path / "prediction_files").exists()


def test_a_resumed_search_keeps_metric_folds_limits_and_what_it_leaves_out(iris, executor, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        TuneSession(
            iris, kb, settings_of(metric="accuracy", n_iterations=3, exclude_datasets=("wine",)), executor
        ).run()

        earlier = find_unfinished(kb, iris.fingerprint, PredictionFiles(None))
        settings = earlier.resumed(settings_of(n_folds=7, limits=Limits(5.0)))

    assert (settings.metric, settings.n_folds, settings.n_iterations) == ("accuracy", 3, 3)
    assert (settings.limits, settings.exclude_datasets) == (Limits(30.0), ("wine",))


def test_who_watches_a_resumed_search_is_told_which_it_is_and_of_its_own_budget(iris, executor, tmp_path):
    seen, told = [], []
    with open_kb(tmp_path / "kb.db") as kb:
        cut_after(2, iris, kb, settings_of(n_iterations=4, metric="accuracy"), executor)

        settings = settings_of(n_iterations=99)
        tune(iris, settings, kb=kb, executor=executor, resume=True, on_progress=seen.append, on_note=told.append)

    assert [line.split(" in ")[0] for line in told] == [
        "Going on with a search by accuracy that was cut short: 2 of 4 evaluations"
    ]
    assert [progress.settings.n_iterations for progress in seen] == [4] * len(seen) != []


def test_a_resumed_search_keeps_algorithms_bandit_surrogate_and_seed(iris, executor, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        TuneSession(iris, kb, settings_of(n_iterations=3, bandit="uniform", strategy="forest"), executor).run()

        earlier = find_unfinished(kb, iris.fingerprint, PredictionFiles(None))
        settings = earlier.resumed(TuneSettings(algorithms=("k_neighbors", "mlp"), seed=1))

    assert set(settings.algorithms) == {"decision_tree", "k_neighbors"}
    assert (settings.bandit, settings.strategy, settings.seed) == ("uniform", "forest+blended", 7)


def test_a_session_that_another_process_holds_is_not_taken_over(iris, executor, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb, subprocess.Popen([sys.executable, "-c", "input()"], stdin=PIPE) as other:
        cut_after(2, iris, kb, settings_of(), executor)
        holder = {"host": platform.node(), "pid": other.pid, "started": psutil.Process(other.pid).create_time()}
        with kb.engine.begin() as connection:
            settings = json.loads(connection.scalar(text("SELECT settings FROM session")))
            changed = json.dumps({**settings, "held_by": holder})
            connection.execute(text("UPDATE session SET settings = :changed"), {"changed": changed})

        while_it_lives = find_unfinished(kb, iris.fingerprint, PredictionFiles(None))
        other.kill()
        other.wait()
        afterwards = find_unfinished(kb, iris.fingerprint, PredictionFiles(None))

    assert while_it_lives is None
    assert len(afterwards.trials) == 2


def test_the_best_of_a_resumed_search_is_taken_even_if_its_predictions_are_lost(iris, executor):
    with open_kb(":memory:") as kb:
        found = TuneSession(iris, kb, settings_of(), executor).run()
    best, *others = found.ranked
    lost = replace(best, scores=(1.0,), outcome=replace(best.outcome, predictions=None))

    with FoldModels() as models:
        known = replace(found, trials=(lost, *others))
        finished = finish(Ending(iris, known, executor, settings_of(), Budget(None), models))

    assert (finished.kind, finished.score) == ("single", 1.0)
    assert finished.chosen == (Chosen(lost, 1.0, is_refit=True),)


def test_two_searches_cut_short_in_one_folder_keep_what_they_need(iris, executor, tmp_path):
    class Killed(Exception):
        pass

    def kill(progress):
        if progress.n_done == 3:
            raise Killed

    with open_kb(tmp_path / "kb.db") as kb:
        for dataset in (iris, builtin.load("wine")):
            with pytest.raises(Killed):
                tune(dataset, settings_of(), kb=kb, executor=executor, output=tmp_path / "out", on_progress=kill)
        again = tune(iris, settings_of(), kb=kb, executor=executor, output=tmp_path / "out", resume=True)

    assert all(trial.outcome.predictions is not None for trial in again.found.ranked)


def test_a_resumed_search_keeps_its_rows_where_all_of_them_fitted(executor, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4000, 201)), columns=[*(f"x{k}" for k in range(200)), "y"])
    wide = from_frame(frame, target="y")
    settings = settings_of(seconds=5.0, n_iterations=None, n_folds=5)
    with open_kb(tmp_path / "kb.db") as kb:
        begun = TuneSession(wide, kb, settings, executor)
        begun.run(should_stop=lambda: True)

        earlier = find_unfinished(kb, wide.fingerprint, PredictionFiles(None))
        resumed = TuneSession(wide, kb, earlier.resumed(settings), executor, resumed=earlier)

    assert resumed.plan.hash == begun.plan.hash


def test_a_full_disk_ends_a_search_with_a_model_and_more_space_lets_it_go_on(iris, executor, tmp_path):
    is_full = threading.Event()

    def limit(connection, *_):
        # SQLite's own limit: what it says is what it says of a full disk.
        connection.execute(f"PRAGMA max_page_count = {1 if is_full.is_set() else 2**30}")

    def fill_up(progress):
        if progress.n_done == 3:
            is_full.set()

    with open_kb(tmp_path / "kb.db") as kb:
        event.listen(kb.engine, "checkout", limit)
        settings = settings_of(n_iterations=40)
        cut = tune(iris, settings, kb=kb, executor=executor, output=tmp_path / "out", on_progress=fill_up)
        is_full.clear()
        again = tune(iris, settings, kb=kb, executor=executor, output=tmp_path / "out", resume=True)

    assert "the disk is full" in cut.found.error
    assert 3 <= len(cut.found.trials) < 40
    assert cut.finished.kind != "fallback"
    assert again.found.session == cut.found.session
    assert (len(again.found.trials), again.found.error) == (40, "")


def test_a_knowledge_base_that_somebody_locks_ends_a_search_with_a_model(iris, executor, tmp_path):
    def be_impatient(connection, *_):
        connection.execute("PRAGMA busy_timeout = 1")

    def lock(progress):
        if progress.n_done == 3:
            other.execute("BEGIN EXCLUSIVE")

    with open_kb(tmp_path / "kb.db") as kb, closing(sqlite3.connect(tmp_path / "kb.db")) as other:
        event.listen(kb.engine, "checkout", be_impatient)
        result = tune(iris, settings_of(n_iterations=40), kb=kb, executor=executor, on_progress=lock)

    assert "locked" in result.found.error
    assert result.finished.kind != "fallback"


def test_a_resumed_search_goes_on_at_once_and_experience_joins_it_later(iris, executor, tmp_path):
    with open_kb(tmp_path / "kb.db") as kb:
        fill(kb)
        # Two searches that learn at the same time would keep the lessons of the slower one.
        learn(kb, LessonRequest("neg_log_loss", "multiclass"))
        settings = settings_of(seconds=60.0, n_iterations=None)
        key = cut_after(2, iris, kb, settings, executor)
        earlier = find_unfinished(kb, iris.fingerprint, PredictionFiles(None))
        session = TuneSession(iris, kb, earlier.resumed(settings), executor, resumed=earlier)
        session.run(should_stop=lambda: session.advisor.experience is not None)

        log = kb.sql("SELECT kind FROM event WHERE kind IN ('resumed', 'experience joined') ORDER BY number")
        steps = replay_session(kb, key)

    assert log["kind"].tolist()[-2:] == ["resumed", "experience joined"]
    assert all(step.is_same for step in steps)


@pytest.mark.parametrize("resume", [False, True])
def test_a_new_search_says_so_where_there_was_nothing_to_resume(iris, executor, resume):
    told: list[str] = []

    tune(iris, settings_of(n_iterations=1, n_workers=2), executor=executor, on_note=told.append, resume=resume)

    line = "Nothing to resume, as no search on iris was cut short: a new search begins."
    assert told == [line][:resume]
