"""A data set with its most useful columns: the ones that decide stay, and the model reads no other."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.evaluation.model_limits import ModelLimits
from metaml.tuning.column_choice import with_best_columns
from metaml.tuning.run import tune
from tests.tuning.sessions import settings_of


@pytest.fixture(scope="module")
def noisy():
    """A table in which two of eight columns decide."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 7)), columns=list("abcdefg"))
    frame["town"] = rng.choice(["Ulm", "Bonn"], 400)
    return from_frame(frame.assign(y=np.where(frame["c"] + (frame["town"] == "Ulm") > 0.5, "yes", "no")), target="y")


def test_the_columns_that_decide_stay(noisy):
    reduced = with_best_columns(noisy, 2)

    assert set(reduced.X.columns) == {"c", "town"}
    assert [feature.source for feature in reduced.schema.features] == list(reduced.X.columns)
    assert reduced.fingerprint != noisy.fingerprint
    assert sum(repair.why == "not among the 2 most useful columns" for repair in reduced.repairs) == 6


def test_enough_columns_stay_as_they_are(noisy):
    assert with_best_columns(noisy, 8) is noisy


def test_the_model_reads_no_other_column(noisy, one_worker):
    notes = []
    settings = settings_of(n_iterations=2, model_limits=ModelLimits(n_columns=2))

    model = tune(noisy, settings, executor=one_worker, on_note=notes.append).finished.model

    assert model.answer(pd.DataFrame({"c": [3.0], "town": ["Ulm"]})).notes == ()
    assert notes == ["The model may read 2 columns: c and town."]
