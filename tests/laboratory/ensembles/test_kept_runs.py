"""Kept predictions as arrays."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.laboratory.ensembles.kept_runs import UNUSED, kept_runs
from metaml_kb import open_kb
from tests.predicted import CANDIDATES, keep_predictions


def test_predictions_come_with_their_configurations_their_folds_and_the_rows_they_used():
    with open_kb(":memory:") as kb:
        keep_predictions(kb, 1)
        found = kept_runs(kb)[0]

    assert [(name, dict(config)) for name, config in found.candidates] == [item[:2] for item in CANDIDATES]
    assert found.predictions.shape == (5, 120)
    assert int((found.folds == UNUSED).sum()) == 40
    assert found.dataset == "0" * 32 + "@80"
    assert found.metafeatures["NumberOfInstances"] == 80.0
    assert found.seconds.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert np.argmax(found.scores) in (0, 1)


def test_without_predictions_one_sentence_says_how_to_keep_some():
    with open_kb(":memory:") as kb, pytest.raises(BadRequest, match="metaml bot FOLDER --keep-predictions"):
        kept_runs(kb)
