"""Columns with which the prediction may only rise or fall: kept by the whole model, and part of what a run is."""

import json

import numpy as np
import pandas as pd
import pytest

import metaml
from metaml.data import column_options, from_frame
from metaml.ensemble.calibration import METHODS, _fit
from metaml.errors import BadRequest
from metaml.records.reproduction import dataset_of
from metaml.search.settings import TuneSettings, keeping_directions
from metaml_kb import open_kb
from metaml_kb.lookup import find_run
from tests.tuning.sessions import settings_of

pytestmark = pytest.mark.usefixtures("one_pool")

FAST = {"algorithms": ("lightgbm", "decision_tree", "svm"), "iterations": 3, "folds": 2, "kb": ":memory:"}
SWEPT, ROWS = 41, 15


def flats(n: int = 240) -> pd.DataFrame:
    """Rents that rise with the area and fall with the distance, but for noise and waves that a free model follows."""
    rng = np.random.default_rng(0)
    area, distance = rng.uniform(20, 120, n), rng.uniform(0, 15, n)
    rent = 10 * area + 400 * np.sin(area / 12) - 30 * distance + rng.normal(0, 80, n)
    columns = {"area": area.round(), "distance": distance, "floor": rng.integers(0, 6, n)}
    return pd.DataFrame({**columns, "rent": rent, "is_dear": np.where(rent > np.median(rent), "yes", "no")})


def swept(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return some rows with all values of a column in turn."""
    values = np.linspace(frame[column].min() - 5, frame[column].max() + 5, SWEPT)
    parts = [frame.head(ROWS).assign(**{column: value}) for value in values]
    return pd.concat(parts, ignore_index=True)


def steps(answers: np.ndarray) -> np.ndarray:
    return np.diff(np.asarray(answers, dtype=np.float64).reshape(SWEPT, ROWS), axis=0)


def test_an_ensemble_of_numbers_only_rises_and_falls_as_asked_for_and_a_free_one_does_not():
    frame = flats().drop(columns="is_dear")

    free = metaml.tune(frame, "rent", **FAST)
    kept = metaml.tune(frame, "rent", increasing="area", decreasing="distance", **FAST)

    rising, falling = swept(frame, "area"), swept(frame, "distance")
    assert len(kept.model.members) > 1
    assert steps(kept.model.predict(rising)).min() >= -1e-9
    assert steps(kept.model.predict(falling)).max() <= 1e-9
    assert steps(kept.model.predict(rising)).max() > 0
    assert steps(free.model.predict(rising)).min() < -1


def test_calibrated_probabilities_thresholds_and_a_saved_model_keep_the_directions(tmp_path):
    frame = flats(600).drop(columns="rent")
    path = tmp_path / "flats.csv"
    frame.to_csv(path, index=False)

    with open_kb(tmp_path / "kb.db") as kb:
        options = {**FAST, "kb": kb, "metric": "f1", "output": tmp_path}
        metaml.tune(path, "is_dear", increasing=["area"], decreasing="distance", **options)
        stored = find_run(kb, kb.runs()["run"].iloc[0])
        tried = set(kb.runs()["algorithm"])

    model = metaml.load(tmp_path)
    for column, direction in (("area", 1), ("distance", -1)):
        rows = swept(frame, column)
        assert (direction * steps(model.predict_proba(rows)[:, 1])).min() >= -1e-12
        assert (direction * steps(model.predict(rows) == "yes")).min() >= 0
    told = json.loads((tmp_path / "best.json").read_text())["dataset"]
    assert told["increasing"] == ["area"]
    assert "the probability of 'yes' only rises with area and only falls with distance" in told["directions"]
    assert "only rises with area" in (tmp_path / "report.html").read_text()
    assert "svm" not in tried
    assert stored.dataset.details["roles"] == {"increasing": ["area"], "decreasing": ["distance"]}
    again = dataset_of(stored, path)
    assert again.directions == {"area": 1, "distance": -1}
    assert again.fingerprint != from_frame(frame, "is_dear").fingerprint


@pytest.mark.parametrize("method", METHODS)
def test_no_calibration_of_two_classes_turns_a_direction_around(method):
    rng = np.random.default_rng(0)
    chances = rng.random(3000)
    truth = (rng.random(3000) < 1 - chances).astype(int)  # the worst case: the opposite comes true
    grid = np.linspace(0, 1, 101)

    calibration = _fit(np.column_stack([1 - chances, chances]), truth, None, method)

    assert np.diff(calibration(np.column_stack([1 - grid, grid]))[:, 1]).min() >= 0


def test_the_estimators_keep_directions():
    frame = flats()
    X = frame[["area", "distance", "floor"]]

    regressor = metaml.MetaMLRegressor(increasing="area", algorithms="lightgbm", iterations=1, folds=2, kb=":memory:")
    regressor.fit(X, frame["rent"])

    assert steps(regressor.predict(swept(X, "area"))).min() >= -1e-9


def test_algorithms_that_cannot_keep_directions_are_left_out_by_name():
    dataset = from_frame(flats(), "rent", options=column_options(increasing="area"))
    settings = settings_of(algorithms=("svm", "lightgbm", "mlp"), n_layers=None)

    kept, told = keeping_directions(settings, dataset)

    assert kept.algorithms == ("lightgbm",)
    assert kept.n_layers == 1
    assert told == "Left out, as they cannot keep to the directions of the columns: svm, mlp."
    assert keeping_directions(settings, from_frame(flats(), "rent")) == (settings, "")


@pytest.mark.parametrize(
    ("asked", "told"),
    [({"algorithms": ("svm",)}, "svm cannot be used. Choose among: random_forest"), ({"n_layers": 2}, "--layers 2")],
)
def test_what_cannot_keep_directions_is_refused_before_the_search(asked, told):
    dataset = from_frame(flats(), "rent", options=column_options(increasing="area"))

    with pytest.raises(BadRequest, match=told):
        keeping_directions(TuneSettings(**asked), dataset)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"increasing": "aera"}, "no column 'aera'"),
        ({"increasing": "kind"}, "holds categories without an order"),
        ({"increasing": "area", "decreasing": "area"}, "can do only one of these"),
    ],
)
def test_columns_that_cannot_have_a_direction_get_one_sentence(asked, told):
    frame = flats().assign(kind=["old", "new", "loft"] * 80)

    with pytest.raises(metaml.errors.MetamlError, match=told):
        metaml.tune(frame, "rent", **asked, **FAST)


def test_three_classes_have_no_direction():
    frame = flats().assign(kind=["old", "new", "loft"] * 80)

    with pytest.raises(BadRequest, match="Among three or more classes"):
        metaml.tune(frame, "kind", increasing="area", **FAST)
