"""A search ends where it was asked to: at a score, or when evaluations no longer improve."""

import pytest

from metaml.errors import BadRequest
from metaml.sources import builtin
from metaml.tuning.run import tune
from metaml_kb import open_kb
from tests.tuning.sessions import settings_of


def test_a_search_ends_at_the_score_that_was_asked_for(one_worker):
    notes = []

    easy = settings_of(n_iterations=20, metric="accuracy", stop_at=0.5)
    result = tune(builtin.load("iris"), easy, executor=one_worker, on_note=notes.append)

    assert len(result.found.trials) < 20
    assert result.found.trials[-1].score >= 0.5
    assert notes == ["The search ended as it reached the accuracy of 0.5000 that was asked for."]
    assert notes[0] in result.report.advice


def test_a_loss_is_asked_for_as_people_write_it(one_worker):
    result = tune(builtin.load("iris"), settings_of(n_iterations=20, stop_at=5.0), executor=one_worker)

    assert result.found.metric == "neg_log_loss"
    assert len(result.found.trials) < 20


def test_patience_counts_evaluations_without_a_better_score_and_is_kept_to_resume(one_worker):
    with open_kb(":memory:") as kb:
        asked = settings_of(n_iterations=30, patience=2, metric="accuracy")
        result = tune(builtin.load("iris"), asked, executor=one_worker, kb=kb)
        settings = kb.sessions()["settings"][0]

    scores = [trial.score for trial in result.found.trials]
    assert len(scores) < 30
    assert max(scores[-2:]) <= max(scores[:-2])
    assert "2 evaluations without a better score" in result.found.ended
    assert settings["patience"] == 2


def test_ends_that_make_no_sense_are_refused():
    with pytest.raises(BadRequest, match="A patience of 0"):
        settings_of(patience=0)
    with pytest.raises(BadRequest, match="a score of nan"):
        settings_of(stop_at=float("nan"))
