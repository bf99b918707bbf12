"""`metaml explain` and `metaml check` answer from a model file, and their exit codes are for pipelines."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import metaml
from metaml_cli.main import app

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, rows like its own and rows that are not."""
    place = tmp_path_factory.mktemp("explain")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=240), "b": rng.choice(["x", "y"], 240)})
    frame["y"] = np.where(frame["a"] + 0.5 * rng.normal(size=240) > 0, "high", "low")
    metaml.tune(frame[:120], iterations=2, algorithms="decision_tree", folds=2, kb=":memory:", output=place / "out")
    frame[120:].to_csv(place / "same.csv", index=False)
    frame[120:].assign(a=frame["a"] + 9).to_csv(place / "moved.csv", index=False)
    return place


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_explanations_are_a_table_that_adds_up(folder):
    result = run("explain", folder / "out", folder / "same.csv")

    found = pd.read_csv(io.StringIO(result.stdout))
    assert found.columns.tolist() == ["prediction", "class", "output", "base", "contribution of a", "contribution of b"]
    added = found["base"] + found["contribution of a"] + found["contribution of b"]
    assert added.to_numpy() == pytest.approx(found["output"].to_numpy(), abs=1e-6)


def test_a_class_can_be_chosen_and_the_file_named(folder):
    result = run("explain", folder / "out", folder / "same.csv", "--class", "low", "-o", folder / "why.csv")

    assert result.stdout == ""
    assert "Largest mean contributions: a (" in result.stderr
    assert set(pd.read_csv(folder / "why.csv")["class"]) == {"low"}
    assert run("explain", folder / "out", folder / "same.csv", "--class", "none").exit_code == 2


def test_rows_of_the_same_kind_pass_the_check(folder):
    result = run("check", folder / "out", folder / "same.csv")

    assert result.exit_code == 0
    assert result.stdout.endswith("No difference was found.\n")


def test_rows_that_differ_set_the_exit_code_and_say_why(folder):
    result = run("check", folder / "out", folder / "moved.csv")
    as_json = run("check", folder / "out", folder / "moved.csv", "--json")

    assert (result.exit_code, as_json.exit_code) == (1, 1)
    assert "mostly by a" in result.stdout
    assert json.loads(as_json.stdout)["differs"] is True
