"""Calibration is used where it helps on rows it was not fitted on, keeps the order of rows, and survives JSON."""

import json

import numpy as np
import pytest

from metaml.ensemble.calibration import METHODS, Calibration, calibrate
from metaml.metrics import metric

N_ROWS = 2000
FOLDS = np.arange(N_ROWS) % 5


def drawn(n_classes, change=lambda chances: chances, seed=0):
    """Return probabilities after a change, and the truth as drawn before it."""
    rng = np.random.default_rng(seed)
    raised = np.exp(1.5 * rng.normal(size=(N_ROWS, n_classes)))
    true = raised / raised.sum(axis=1, keepdims=True)
    truth = (rng.random((N_ROWS, 1)) > true.cumsum(axis=1)).sum(axis=1)
    changed = change(true)
    return changed / changed.sum(axis=1, keepdims=True), truth


def loss_of(chances, truth):
    return -metric("neg_log_loss").function(truth, chances)


def test_probabilities_that_come_true_are_left_alone():
    assert calibrate(*drawn(2), FOLDS, "neg_log_loss") is None


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_model_that_is_too_sure_gets_a_temperature(n_classes):
    chances, truth = drawn(n_classes, lambda true: true**2.5)

    found = calibrate(chances, truth, FOLDS, "neg_log_loss")

    assert found.calibration.method == "temperature"
    assert found.calibration.slope == pytest.approx(0.4, abs=0.04)
    assert found.gain > 5 * found.error


def test_a_model_that_prefers_a_class_gets_offsets():
    chances, truth = drawn(3, lambda true: true * [1.0, 2.0, 5.0])

    found = calibrate(chances, truth, FOLDS, "neg_log_loss")

    assert found.calibration.method == "platt"
    assert np.diff(found.calibration.offsets) == pytest.approx(-np.log([2.0, 2.5]), abs=0.25)


def test_what_no_scaling_can_mend_gets_isotonic_regression():
    chances, truth = drawn(2, lambda true: np.where(true > 0.5, 0.55 + true / 4, 0.2 + true / 4))

    found = calibrate(chances, truth, FOLDS, "neg_log_loss")

    assert found.calibration.method == "isotonic"
    assert loss_of(found.calibration(chances), truth) < loss_of(chances, truth)


def test_the_gain_is_that_of_rows_the_calibration_was_not_fitted_on():
    chances, truth = drawn(2, lambda true: true**2)
    # The rows of the last fold are calibrated by the others, whatever their own truth says.
    last = FOLDS == 4

    before = calibrate(chances, truth, FOLDS, "neg_log_loss").predictions[last]
    after = calibrate(chances, np.where(last, 1 - truth, truth), FOLDS, "roc_auc")

    assert after is None or np.allclose(before, after.predictions[last])
    assert not np.allclose(before, chances[last])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_the_order_of_rows_so_that_no_rank_is_lost(method):
    chances, truth = drawn(2, lambda true: true**3)
    knots = (((0.0, 0.3, 1.0), (0.01, 0.4, 0.99)),) if method == "isotonic" else ()
    calibration = Calibration(method, 0.4, (0.1, -0.1), knots)

    made = calibration(chances)

    assert (np.diff(made[np.argsort(chances[:, 1]), 1]) >= 0).all()
    assert metric("roc_auc").function(truth, made) == pytest.approx(metric("roc_auc").function(truth, chances))
    assert made.sum(axis=1) == pytest.approx(1.0)


def test_rows_that_were_not_predicted_stay_unpredicted():
    chances, truth = drawn(2, lambda true: true**3)
    chances[::7] = np.nan

    found = calibrate(chances, truth, FOLDS, "roc_auc")

    assert np.isnan(found.predictions[::7]).all()
    assert np.isfinite(found.predictions[1:7]).all()


def test_a_single_held_out_fold_is_enough():
    chances, truth = drawn(2, lambda true: true**3)

    assert calibrate(chances, truth, np.zeros(N_ROWS), "roc_auc") is not None


def test_few_rows_are_left_alone():
    chances, truth = drawn(2, lambda true: true**3)

    assert calibrate(chances[:40], truth[:40], FOLDS[:40], "roc_auc") is None


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("change", [lambda p: p**3, lambda p: np.where(p > 0.5, 0.6 + p / 8, p / 8)])
def test_a_calibration_survives_json(n_classes, change):
    chances, truth = drawn(n_classes, change)
    found = calibrate(chances, truth, FOLDS, "neg_log_loss").calibration

    again = Calibration.from_dict(json.loads(json.dumps(found.to_dict())), n_classes)

    assert np.array_equal(again(chances), found(chances))


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "magic"},
        {"slope": float("nan")},
        {"slope": -1.0},
        {"offsets": [0.0, 1.0, 2.0]},
        {"knots": [[[0.0, 1.0], [0.0]]]},
    ],
)
def test_a_calibration_that_makes_no_sense_is_refused(wrong):
    plain = {"method": "platt", "slope": 1.0, "offsets": [0.0, 0.0], "knots": [], **wrong}

    with pytest.raises(ValueError, match="calibration"):
        Calibration.from_dict(plain, 2)
