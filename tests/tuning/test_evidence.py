"""What a report says its score rests on comes from the out-of-fold predictions of the final model."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import ColumnOptions, from_frame
from metaml.report.wording import error_text, score_error
from metaml.sources import builtin
from metaml.tuning.evidence import evidence_of
from metaml.tuning.run import tune
from tests.tuning.sessions import settings_of


def test_folds_and_rows_are_those_of_the_search(finished):
    _, result, _ = finished
    known = result.report.evidence

    assert (known.n_tested, known.n_trained, len(known.fold_scores)) == (150, 100, 3)
    assert np.mean(known.fold_scores) == pytest.approx(result.finished.score)
    assert [curve.label for curve in known.curves] == [str(label) for label in builtin.load("iris").labels]


def test_one_held_out_part_has_a_spread_by_bootstrap(one_worker):
    diabetes = builtin.load("diabetes")
    result = tune(diabetes, settings_of(n_iterations=2, n_folds=1), executor=one_worker)

    known = evidence_of(diabetes, result.found, result.finished)

    assert known.n_tested == 89
    assert 0 < known.error < abs(result.finished.score)
    assert [row.asked for row in known.coverage] == [0.5, 0.8, 0.9, 0.95]


def test_the_importance_of_columns_is_that_to_the_whole_model(one_worker):
    result = tune(builtin.load("diabetes"), settings_of(n_iterations=3), executor=one_worker)

    assert all(item.is_of_all for item in result.report.features)
    assert result.report.features[0].column in ("bmi", "s5")


def test_by_time_the_error_beside_the_score_is_that_of_one_more_fold(one_worker):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"t": np.arange(200), "x": rng.normal(size=200)})
    frame["y"] = frame["x"] * (1 + (frame["t"] > 150)) + 0.1 * rng.normal(size=200)
    dataset = from_frame(frame, "y", options=ColumnOptions(time="t"))

    data = tune(dataset, settings_of(n_iterations=1, algorithms=("decision_tree",)), executor=one_worker).report

    scores = np.array(data.evidence.fold_scores)
    expected = scores.std(ddof=1) * np.sqrt(1 + 1 / len(scores))
    assert data.evidence.later_error == pytest.approx(expected)
    assert data.evidence.later_error > data.evidence.error
    assert score_error(data) == error_text(data.evidence.later_error)
