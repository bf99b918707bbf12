"""`metaml.columns` says which columns of a table matter, as `metaml columns` does."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import metaml
from metaml.errors import BadRequest
from metaml_cli.main import app


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 10)), columns=[f"x{i}" for i in range(10)])
    frame["kind"] = rng.choice(["a", "b", "c"], 200)
    frame.loc[::10, "x0"] = np.nan
    frame["price"] = 100 + 9 * (frame["x0"].fillna(0) + (frame["kind"] == "b")) + rng.normal(size=200)
    return frame


def test_probing_lists_the_selected_columns_first(table):
    found = metaml.columns(table, "price")

    assert set(found["column"][:2]) == {"x0", "kind"}
    assert found["selected"].is_monotonic_decreasing
    assert found["share"].sum() == pytest.approx(1)
    assert (found["first_round"].notna() == found["selected"]).all()


def test_stability_gives_the_share_of_samples_that_selected_a_column(table):
    found = metaml.columns(table, "price", by="stability")

    assert found.loc[found["selected"], "column"].tolist() == ["x0", "kind"]
    assert (found["selected"] == (found["frequency"] >= 0.9)).all()


def test_columns_that_tell_three_classes_apart_are_found(table):
    labelled = table.drop(columns="price").assign(size=np.digitize(table["x1"], [-0.5, 0.5]))

    found = metaml.columns(labelled, "size", task="multiclass")

    assert found["column"][0] == "x1"
    assert found["selected"].sum() < 6


def test_the_size_of_the_target_does_not_matter(table):
    huge = table.assign(price=table["price"] * 1e12)

    pd.testing.assert_frame_equal(metaml.columns(huge, "price"), metaml.columns(table, "price"))


@pytest.mark.parametrize(
    "wrong", [{"by": "magic"}, {"effects": "trees"}, {"by": "stability", "threshold": 90}, {"expected_errors": 0}]
)
def test_a_wrong_value_is_refused(table, wrong):
    with pytest.raises(BadRequest, match=r"Choose|must be|Give"):
        metaml.columns(table, "price", **wrong)


def test_the_command_prints_data_only_to_standard_output(table, tmp_path):
    table.to_csv(tmp_path / "shop.csv", index=False)

    short = CliRunner().invoke(app, ["columns", str(tmp_path / "shop.csv"), "--by", "stability", "--format", "json"])
    whole = CliRunner().invoke(app, ["columns", str(tmp_path / "shop.csv"), "--all", "--format", "csv"])
    wrong = CliRunner().invoke(app, ["columns", str(tmp_path / "shop.csv"), "--by", "magic"])

    assert [row["column"] for row in json.loads(short.stdout)] == ["x0", "kind"]
    assert "at most" in short.stderr
    assert len(whole.stdout.splitlines()) == 12
    assert "Selected: " in whole.stderr
    assert wrong.exit_code == 2
