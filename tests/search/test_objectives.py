"""What a front is made of: its objectives by name, their values, and their values at other thresholds."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.errors import BadRequest
from metaml.evaluation import Outcome, make_plan
from metaml.search.objectives import (
    fairness_groups,
    front_objectives,
    objective_names,
    operating_points,
    ranking_metric,
)

N = 400


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=N), "sex": np.tile(["f", "m"], N // 2)})
    return from_frame(frame.assign(y=(rng.random(N) < 0.3).astype(int)), target="y")


@pytest.fixture(scope="module")
def outcome(dataset):
    """Return an outcome that is right about women and knows nothing about men."""
    rng = np.random.default_rng(1)
    chance = np.where(dataset.X["sex"] == "f", 0.1 + 0.8 * dataset.y, rng.random(N))
    return Outcome("ok", 1.0, {"roc_auc": (0.9,)}, folds=(0,), predictions=np.column_stack([1 - chance, chance]))


def made(names, dataset):
    return front_objectives(names, dataset, make_plan(dataset, 3, 0, None))


def test_rates_are_those_of_the_rarer_class(dataset, outcome):
    fnr, fpr = (objective.value(outcome) for objective in made(("fnr", "fpr"), dataset))
    labels = outcome.predictions.argmax(axis=1)

    assert fnr == pytest.approx(-(labels[dataset.y == 1] == 0).mean(), abs=1e-6)
    assert fpr == pytest.approx(-(labels[dataset.y == 0] == 1).mean(), abs=1e-6)


def test_a_gap_is_the_largest_difference_in_the_recall_of_a_class(dataset, outcome):
    (_, gap) = (objective.value(outcome) for objective in made(("roc_auc", "gap:sex"), dataset))
    is_right, is_woman = outcome.predictions.argmax(axis=1) == dataset.y, (dataset.X["sex"] == "f").to_numpy()
    recalls = [[is_right[is_woman == flag][dataset.y[is_woman == flag] == k].mean() for flag in (0, 1)] for k in (0, 1)]

    assert gap == pytest.approx(-np.ptp(recalls, axis=1).max(), abs=1e-6)


def test_each_threshold_is_an_operating_point(dataset, outcome):
    points = np.array(operating_points(outcome, made(("fnr", "fpr"), dataset), dataset))

    assert len(points) > 10
    assert (np.diff(points[:, 0]) <= 0).all()
    assert (np.diff(points[:, 1]) >= 0).all()


def test_without_an_objective_of_labels_there_is_one_point(dataset, outcome):
    assert operating_points(outcome, made(("roc_auc", "model_bytes"), dataset), dataset) == ()


@pytest.mark.parametrize("names", [("roc_auc", "gap:sex"), ("roc_auc", "fnr"), ("fpr", "gap:sex")])
def test_where_errors_of_one_kind_are_free_no_threshold_moves(dataset, outcome, names):
    assert operating_points(outcome, made(names, dataset), dataset) == ()


@pytest.mark.parametrize("names", [("accuracy", "gap:sex"), ("f1", "fnr"), ("fnr", "fpr", "gap:sex")])
def test_where_both_kinds_of_errors_weigh_thresholds_move(dataset, outcome, names):
    assert len(operating_points(outcome, made(names, dataset), dataset)) > 10


def test_the_first_metric_ranks_unless_another_is_wanted(dataset):
    assert ranking_metric("auto", ("predict_seconds", "neg_log_loss"), dataset) == "neg_log_loss"
    assert ranking_metric("auto", ("fnr", "fpr"), dataset) == "roc_auc"
    assert ranking_metric("f1", ("roc_auc", "fpr"), dataset) == "f1"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["roc_auc"], "two or three"),
        (["size", "model_bytes"], "two or three"),
        (["roc_auc", "latency"], "No objective is named 'latency'"),
    ],
)
def test_objectives_that_make_no_front_are_refused(words, told):
    with pytest.raises(BadRequest, match=told):
        objective_names(words)


def test_objectives_that_do_not_fit_the_data_are_refused(dataset):
    with pytest.raises(BadRequest, match="gap:age names no feature"):
        made(("roc_auc", "gap:age"), dataset)
    with pytest.raises(BadRequest, match="does not fit"):
        made(("neg_rmse", "fpr"), dataset)


def test_a_number_of_many_values_makes_two_groups(dataset):
    assert np.bincount(fairness_groups("x", dataset)).tolist() == [N // 2, N // 2]
