"""What is kept of predictions: only on request, and within a bound."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.records import kept_predictions
from metaml.records.kept_predictions import PredictionKeeper, form_of
from metaml_kb import Run
from metaml_kb.predictions import truth_in

PREDICTED = np.full((60, 2), 0.5)


def run(dataset, **changes) -> Run:
    return Run(dataset=dataset.fingerprint, algorithm="svm", config={}, **changes)


def test_nothing_is_kept_unless_asked_for(two_classes):
    asked = run(two_classes)

    assert PredictionKeeper(None).with_predictions(asked, PREDICTED) is asked


def test_the_truth_comes_with_the_first_run_and_every_twentieth(two_classes):
    keeper = PredictionKeeper("float16")
    keeper.add(two_classes)

    kept = [keeper.with_predictions(run(two_classes), PREDICTED).predictions for _ in range(21)]

    assert [k for k, packed in enumerate(kept) if truth_in(packed.n_rows, packed.data)] == [0, 20]
    truth = truth_in(kept[0].n_rows, kept[0].data)
    assert truth.y.tolist() == two_classes.y.tolist()
    assert truth.labels == tuple(map(str, two_classes.labels))


def test_a_run_that_failed_keeps_none(two_classes):
    failed = run(two_classes, status="timeout")

    assert PredictionKeeper("float16").with_predictions(failed, PREDICTED) is failed


def test_at_the_bound_no_more_are_kept_and_the_user_is_told(two_classes):
    keeper = PredictionKeeper("float32", megabytes=0.0001)

    kept = [keeper.with_predictions(run(two_classes), np.random.default_rng(0).random((60, 2))) for _ in range(3)]

    assert [item.predictions is None for item in kept] == [True, True, True]
    assert "so no more are kept" in keeper.note


def test_a_huge_data_set_is_left_out(two_classes, monkeypatch):
    monkeypatch.setattr(kept_predictions, "MOST_NUMBERS", 100)
    keeper = PredictionKeeper("float16")

    assert keeper.with_predictions(run(two_classes), PREDICTED).predictions is None
    assert "Lower --max-rows" in keeper.note


def test_an_unknown_form_is_refused():
    with pytest.raises(BadRequest, match="float16, float32"):
        form_of("float8")
