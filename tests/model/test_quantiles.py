"""Quantiles come from distributions where members have them, else from intervals; they survive saving."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import metaml
from metaml.errors import BadRequest
from metaml_cli.main import app

pytestmark = pytest.mark.usefixtures("one_pool")
LEVELS = [0.9, 0.1, 0.5]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 150)
    return pd.DataFrame({"x": x, "y": 5 * x + (0.1 + x) * rng.normal(size=150)})


@pytest.fixture(scope="module")
def made(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    found = metaml.tune(frame, "y", algorithms="distribution", iterations=1, folds=2, kb=":memory:", output=folder)
    return found.model, folder


def test_a_distribution_is_wider_where_the_target_varies_more(made, frame):
    found = made[0].predict_quantiles(frame, LEVELS)

    width = found["q0.9"] - found["q0.1"]
    assert width[frame["x"] > 0.7].mean() > 2 * width[frame["x"] < 0.3].mean()
    assert (found["q0.1"] <= found["q0.5"]).all()


def test_they_are_the_same_after_loading(made, frame):
    model, folder = made

    loaded = metaml.load(folder)

    pd.testing.assert_frame_equal(loaded.predict_quantiles(frame, LEVELS), model.predict_quantiles(frame, LEVELS))


def test_other_models_answer_with_the_ends_of_intervals(frame):
    model = metaml.tune(frame, "y", algorithms="elastic_net", iterations=1, folds=2, kb=":memory:").model

    found, interval = model.predict_quantiles(frame, LEVELS), model.predict_interval(frame, 0.8)

    assert np.allclose(found["q0.1"], interval["low"])
    assert np.allclose(found["q0.9"], interval["high"])
    assert np.allclose(found["q0.5"], model.predict(frame))


def test_the_command_and_its_twin_write_a_column_for_each(made, frame, tmp_path):
    frame.head(4).to_csv(tmp_path / "new.csv", index=False)

    shown = CliRunner().invoke(app, ["predict", str(made[1]), str(tmp_path / "new.csv"), "--quantiles", ".1,.9"])
    twin = metaml.predict(made[0], frame.head(4), quantiles=[0.1, 0.9])

    assert shown.stdout.splitlines()[0] == "prediction,q0.1,q0.9"
    assert twin.columns.tolist() == ["prediction", "q0.1", "q0.9"]


@pytest.mark.parametrize("wrong", [[0.0], [], [5]])
def test_levels_that_are_no_probabilities_are_refused(made, frame, wrong):
    with pytest.raises(BadRequest, match="between 0 and 1"):
        made[0].predict_quantiles(frame, wrong)


def test_classes_have_no_quantiles_and_no_distribution(frame):
    labelled = frame.assign(y=np.where(frame["y"] > 2, "a", "b"))
    model = metaml.tune(labelled, "y", algorithms="decision_tree", iterations=1, folds=2, kb=":memory:").model

    with pytest.raises(BadRequest, match="no quantiles"):
        model.predict_quantiles(labelled)
    with pytest.raises(BadRequest, match="distribution is for regression"):
        metaml.tune(labelled, "y", algorithms="distribution", iterations=1, kb=":memory:")
