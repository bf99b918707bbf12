"""What survives an evaluation until the session ends."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metaml.tuning.trials import FoldModels, PredictionFiles
from tests.tuning.sessions import trial_of

MODELS = (pickle.dumps({"fold": 0}), pickle.dumps({"fold": 1}))


def test_a_search_learns_the_seconds_of_this_machine_and_the_log_keeps_those_of_the_worker():
    there = trial_of("svm", 0.8, seconds=6.0)
    there = replace(there, outcome=replace(there.outcome, scale=1 / 3))

    assert there.outcome_by("roc_auc").seconds == pytest.approx(2.0)
    assert there.as_event()["seconds"] == 6.0


def test_models_come_back_as_they_were_kept():
    with FoldModels() as models:
        models.keep("run", MODELS)

        assert "run" in models
        assert models.get("run") == ({"fold": 0}, {"fold": 1})


def test_runs_without_models_and_those_that_were_forgotten_have_none():
    with FoldModels() as models:
        models.keep("without", ())
        models.keep("bad", MODELS)
        models.keep("good", MODELS)

        models.keep_only(["good"])

        assert [run in models for run in ("without", "bad", "good")] == [False, False, True]
        assert models.get("bad") == ()


def test_what_cannot_be_written_is_not_kept():
    with FoldModels() as models:
        models.keep("no/such/folder", MODELS)

        assert "no/such/folder" not in models


def test_models_that_somebody_removed_are_none():
    with FoldModels() as models:
        models.keep("run", MODELS)
        for path in models._scratch.folder.iterdir():
            path.unlink()

        assert models.get("run") == ()


def test_predictions_of_other_runs_than_the_best_are_forgotten(tmp_path: Path):
    prediction_files = PredictionFiles(tmp_path / "prediction_files")
    for run in ("good", "bad"):
        prediction_files.keep(run, np.ones(3))

    prediction_files.keep_only({"good"})

    assert prediction_files.get("good").tolist() == [1.0, 1.0, 1.0]
    assert prediction_files.get("bad") is None


def test_what_was_kept_before_the_disk_was_full_is_removed_all_the_same(tmp_path: Path):
    prediction_files = PredictionFiles(tmp_path / "prediction_files")
    prediction_files.keep("good", np.ones(3))
    prediction_files.keep("no/such/folder", np.ones(3))

    prediction_files.clear()

    assert not (tmp_path / "prediction_files").exists()


def test_predictions_that_were_cut_off_are_none(tmp_path: Path):
    prediction_files = PredictionFiles(tmp_path)
    (tmp_path / "run.npy").write_bytes(b"")

    assert prediction_files.get("run") is None
