"""A front on disk and in memory: which point is picked, and what its model is."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.errors import BadModel, BadRequest
from metaml.model import Model, fit_member
from metaml.model.front import Front, FrontPoint, PointMember, costs_of, load_front, remove_front, save_front

ROWS = load_breast_cancer(as_frame=True).frame
VALUES = ((0.95, 0.004), (0.93, 0.002), (0.9, 0.001))


@pytest.fixture(scope="module")
def front():
    """Return a front of three points, the first an ensemble of two trees, the last with a threshold."""
    dataset = from_frame(ROWS)
    algorithm = ALGORITHMS["decision_tree"]
    models = {}
    for seed, name in enumerate(("one", "two")):
        member = fit_member(
            dataset, algorithm, {**algorithm.space("binary").default(), "max_depth": 2 + seed}, seed=seed
        )
        models[name] = Model.of(dataset, [member], metric="roc_auc", score=0.9)
    tree = PointMember("decision_tree", {"max_depth": 3}, 1.0, 1)
    parts = ((("one", 0.75), ("two", 0.25)), (("one", 1.0),), (("two", 1.0),))
    points = [
        FrontPoint(n, "single", {"roc_auc": score, "predict_seconds": seconds}, (tree,) * len(own), own, score)
        for n, (own, (score, seconds)) in enumerate(zip(parts, VALUES, strict=True), start=1)
    ]
    points[2] = FrontPoint(3, "single", points[2].values, (tree,), parts[2], 0.9, threshold=0.2, multipliers=(0.2, 0.8))
    return Front(("roc_auc", "predict_seconds"), "roc_auc", tuple(points), models)


def test_an_ensemble_is_the_weighted_mean_of_its_parts(front):
    mixed = front.model(front.points[0]).predict_proba(ROWS)
    one, two = (front.models[name].predict_proba(ROWS) for name in ("one", "two"))

    assert np.allclose(mixed, 0.75 * one + 0.25 * two)


def test_a_threshold_decides_between_two_classes(front):
    model = front.model(front.points[2])

    assert np.array_equal(model.predict(ROWS), (model.predict_proba(ROWS)[:, 1] > 0.2).astype(int))


def test_within_a_limit_the_best_by_another_objective_is_picked(front):
    assert front.pick(max={"predict_seconds": 0.003}).number == 2
    assert front.pick(min={"roc_auc": 0.91}).number == 2
    assert front.pick(min={"roc_auc": 0.89}, max={"predict_seconds": 0.0015}).number == 3


def test_without_limits_the_compromise_is_picked(front):
    assert front.pick().number == 2


def test_limits_that_exclude_each_other_are_told(front):
    with pytest.raises(BadRequest, match="keeps all these limits together"):
        front.pick(min={"roc_auc": 0.95}, max={"predict_seconds": 0.001})


def test_lower_seconds_and_higher_scores_cost_less(front):
    costs = costs_of(front)

    assert (np.diff(costs[:, 0]) > 0).all()
    assert (np.diff(costs[:, 1]) < 0).all()


def test_a_saved_front_comes_back_and_is_removed_with_its_table(front, tmp_path):
    save_front(front, tmp_path)

    again = load_front(tmp_path)
    assert again.points == front.points
    assert list(again.frame()["roc_auc"]) == [score for score, _ in VALUES]
    assert len(again.models) == 2

    remove_front(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "[]", json.dumps({"format": "other"})])
def test_a_file_that_is_no_front_is_refused(tmp_path, content):
    (tmp_path / "front").mkdir()
    (tmp_path / "front" / "front.json").write_text(content, encoding="utf-8")

    with pytest.raises(BadModel, match="damaged"):
        load_front(tmp_path)
