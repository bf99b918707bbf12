"""`metaml show --front` and `metaml pick`: a front in a terminal."""

import json

import pytest
from sklearn.datasets import load_breast_cancer

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.model import Model, fit_member, load
from metaml.model.front import Front, FrontPoint, PointMember, save_front
from tests.cli.terminal import metaml


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the output folder of a search with two points on its front."""
    dataset = from_frame(load_breast_cancer(as_frame=True).frame)
    algorithm = ALGORITHMS["decision_tree"]
    member = fit_member(dataset, algorithm, algorithm.space("binary").default(), seed=0)
    model = Model.of(dataset, [member], metric="roc_auc", score=0.9)
    of_tree = (PointMember("decision_tree", {"max_depth": 3}, 1.0, 1),)
    points = tuple(
        FrontPoint(n, "single", {"roc_auc": score, "predict_seconds": seconds}, of_tree, (("tree", 1.0),), score)
        for n, score, seconds in ((1, 0.95, 0.004), (2, 0.9, 0.001))
    )
    place = tmp_path_factory.mktemp("front")
    save_front(Front(("roc_auc", "predict_seconds"), "roc_auc", points, {"tree": model}), place)
    return place


def test_show_front_lists_the_points(folder):
    told = metaml("show", folder, "--front")
    as_json = json.loads(metaml("show", folder, "--front", "--format", "json").stdout)

    assert "decision_tree" in told.stdout
    assert [row["roc_auc"] for row in as_json] == [0.95, 0.9]


def test_pick_makes_the_model_of_the_best_point_within_a_limit(folder):
    told = metaml("pick", folder, "--max", "predict_seconds=0.002")

    assert "Point 2" in told.stderr
    assert load(folder / "point-2").score == 0.9


def test_pick_by_number_into_a_folder(folder, tmp_path):
    metaml("pick", folder, "--point", "1", "--output", tmp_path / "own")

    assert load(tmp_path / "own").facts["front"]["point"] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--max", "predict_seconds"), "is no limit"),
        (("--max", "predict_seconds=0.0001"), "Allow 0.001"),
        (("--point", "7"), "has no point 7"),
    ],
)
def test_what_cannot_be_picked_is_told_in_a_sentence(folder, arguments, told):
    assert told in metaml("pick", folder, *arguments, code=2).stderr


def test_a_folder_without_a_front_says_how_to_get_one(tmp_path):
    assert "--objectives" in metaml("show", tmp_path, "--front", code=2).stderr
