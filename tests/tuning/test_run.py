"""Tuning from the data to the files a user takes home."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.model import load
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.run import WAITING, tune
from metaml_kb import open_kb
from tests.tuning.sessions import raw, settings_of


def test_the_model_predicts_the_original_labels(finished):
    output, result, _ = finished

    model = load(output)
    answer = model.answer(raw("iris").drop(columns="target"))

    assert set(answer.predictions) == {"setosa", "versicolor", "virginica"}
    assert np.allclose(answer.probabilities.sum(axis=1), 1.0)
    assert model.score == result.finished.score


def test_the_session_keeps_its_user_its_project_and_the_score_of_its_model(one_worker):
    with open_kb(":memory:") as kb:
        asked = settings_of(n_iterations=1, user="ada", project="flowers")
        result = tune(builtin.load("iris"), asked, kb=kb, executor=one_worker)
        stored = kb.sessions().iloc[0]

    assert (stored["user"], stored["project"], stored["n_runs"]) == ("ada", "flowers", 1)
    assert (stored["metric"], stored["score"]) == (result.found.metric, result.finished.score)


def test_the_ledger_adds_up_to_the_wall_time(finished):
    _, result, _ = finished

    assert sum(result.report.ledger.values()) == pytest.approx(result.report.session.used_seconds, abs=0.5)


def test_a_budget_that_allows_nothing_gives_a_labelled_fallback(one_worker, tmp_path):
    result = tune(
        builtin.load("diabetes"), settings_of(seconds=0.001, n_iterations=None), output=tmp_path, executor=one_worker
    )

    predictions = load(tmp_path).answer(raw("diabetes").drop(columns="target")).predictions
    assert result.finished.kind == "fallback"
    assert "no evaluation was complete" in result.finished.why
    assert np.isfinite(predictions.astype(float)).all()
    assert "fallback" in (tmp_path / "report.html").read_text().lower()


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


def test_a_search_whose_files_cannot_be_written_at_the_end_is_resumed(iris, one_worker, tmp_path):
    output, settings = tmp_path / "out", settings_of(n_iterations=2)
    in_the_way = output / "report.html"
    in_the_way.mkdir(parents=True)

    with open_kb(tmp_path / "kb.db", create=True) as kb:
        with pytest.raises(BadRequest, match=r"Not all files in .* can be written: Is a directory.* With --resume"):
            tune(iris, settings, kb=kb, output=output, executor=one_worker)
        in_the_way.rmdir()
        resumed = tune(iris, settings, kb=kb, output=output, resume=True, executor=one_worker)

        assert len(kb.runs()) == len(resumed.found.trials) == 2
    assert in_the_way.is_file()


def test_a_knowledge_base_that_others_hold_makes_no_search_late_and_loses_no_run(iris, one_worker, tmp_path):
    place, notes, held = tmp_path / "kb.db", [], []
    with open_kb(place) as kb, sqlite3.connect(place, isolation_level=None) as other:

        def hold(_: object) -> None:
            if not held:
                other.execute("BEGIN IMMEDIATE")
                held.append(True)

        def release(note: str) -> None:
            notes.append(note)
            other.execute("ROLLBACK")

        settings = TuneSettings(algorithms=("decision_tree", "k_neighbors"), seconds=3.0, uses_memory=False)
        tuned = tune(
            iris,
            settings,
            kb=kb,
            executor=one_worker,
            output=tmp_path / "found",
            on_progress=hold,
            on_note=release,
        )

        assert notes == [WAITING.format(tmp_path / "found", place)]
        assert len(kb.runs()) == len(tuned.found.trials) > 1
        assert tuned.found.error == ""


def test_a_search_uses_as_many_workers_as_its_executor_has(iris, executor):
    result = tune(iris, settings_of(n_workers=1, n_iterations=2), executor=executor)

    assert result.report.session.n_workers == 2


def test_every_phase_of_a_search_is_told_once_and_in_order(iris, one_worker, tmp_path):
    phases: list[str] = []

    settings = settings_of(n_iterations=3, algorithms=("decision_tree",), n_repeats=1)
    tune(iris, settings, executor=one_worker, output=tmp_path, on_phase=phases.append)

    assert phases == ["describing", "first fits", "search", "repeats", "refit", "report"]
