"""`metaml kb insight`, `kb plot` and `kb rerank` as a person types them."""

import json

import numpy as np
import pytest

from metaml_kb import DatasetRecord, Run, open_kb
from metaml_kb.predictions import Truth, pack
from tests.cli.terminal import metaml


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A grid of 12 points on four data sets, with predictions on one of them."""
    path = str(tmp_path_factory.mktemp("insight") / "kb.db")
    truth = Truth(np.array([0, 1, 1]), ("no", "yes"))
    with open_kb(path) as kb:
        for k, n_rows in enumerate((100, 200, 1000, 2000)):
            kb.add_dataset(DatasetRecord(f"f{k}", f"set {k}", task="binary", n_rows=n_rows))
            kb.add_runs(
                Run(
                    dataset=f"f{k}",
                    algorithm="boosting",
                    config={"leaves": leaves, "rate": rate},
                    scores={"accuracy": 0.9 - 0.01 * abs(leaves - (2 if n_rows < 500 else 6)) - abs(rate - 0.1)},
                    origin="grid",
                    predictions=pack(np.array([[0.9, 0.1], [rate, 1 - rate], [0.7, 0.3]]), truth=truth)
                    if not k
                    else None,
                )
                for leaves in (2, 3, 6, 11)
                for rate in (0.01, 0.05, 0.6)
            )
    return path


def call(*words: str):
    return metaml("kb", *words)


def test_insight_shows_what_matters_and_what_is_best_where(place):
    done = call("insight", "--algorithm", "boosting", "--metric", "accuracy", "--split", "500", "--kb", place)

    assert done.exit_code == 0, done.output
    assert "48 runs on 4 data sets" in done.output
    assert "over the best single configuration" in done.output
    assert "below 500 rows" in done.output


def test_insight_as_json_has_everything(place):
    words = ["--algorithm", "boosting", "--metric", "accuracy", "--rows", "..500", "--format", "json", "--kb", place]
    facts = json.loads(call("insight", *words).stdout)

    assert facts["datasets"] == 2
    assert facts["best_single"] == {"leaves": 2, "rate": 0.05}
    assert {row["hyperparameter"] for row in facts["hyperparameters"]} == {"leaves", "rate"}


def test_the_reference_can_be_given(place):
    words = ["--algorithm", "boosting", "--metric", "accuracy", "--default", "leaves=11", "--default", "rate=0.6"]

    assert "over the default" in call("insight", *words, "--kb", place).output


def test_a_plot_is_written(place, tmp_path):
    file = tmp_path / "values.svg"

    done = call("plot", "values", "--algorithm", "boosting", "--metric", "accuracy", "-o", str(file), "--kb", place)

    assert done.exit_code == 0, done.output
    assert file.read_text().startswith("<svg")


def test_runs_are_ranked_by_a_new_metric_and_by_costs(place):
    by_metric = json.loads(call("rerank", "--metric", "f1", "--format", "json", "--kb", place).stdout)
    by_costs = call("rerank", "--costs", "yes>no=10", "--kb", place)

    assert len(by_metric) == 12
    assert by_metric[0]["rank"] == 1
    assert "12 runs with stored predictions" in by_costs.output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["insight", "--algorithm", "none", "--metric", "accuracy"], "It has runs of: boosting"),
        (["insight", "--algorithm", "boosting", "--metric", "accuracy", "--rows", "500"], "Write it as 500..5000"),
        (["insight", "--algorithm", "boosting", "--metric", "accuracy", "--default", "rate=7"], "No run has rate '7'"),
        (["plot", "ranks", "--metric", "accuracy", "-o", "x.pdf"], "neither .svg nor .png"),
        (["rerank"], "either a metric or costs"),
        (["rerank", "--costs", "yes=no"], "Write it as TRUE:DECIDED=COST"),
    ],
)
def test_a_wrong_wish_is_refused_in_a_sentence(place, words, says):
    done = metaml("kb", *words, "--kb", place, code=2)

    assert says in done.stderr.replace("\n", " ")
