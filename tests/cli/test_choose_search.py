"""`metaml tune` with a preset, and with single choices of how a search chooses."""

import pytest
from sklearn.datasets import load_iris

from metaml.records.session_keys import stored_plan
from metaml_kb import open_kb
from tests.cli.terminal import metaml

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture
def iris_csv(tmp_path):
    load_iris(as_frame=True).frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


def test_options_change_a_preset(iris_csv, tmp_path):
    metaml(
        "tune", iris_csv, "--iterations", 4, "--folds", 2, "--algorithms", "decision_tree,k_neighbors",
        "--preset", "thesis", "--acquisition", "confidence_bound:1.5", "--space", "joint",
        "--starts", "portfolio", "--output", tmp_path / "out", "--kb", tmp_path / "kb.db",
    )  # fmt: skip

    with open_kb(tmp_path / "kb.db") as kb:
        plan = stored_plan(kb.sessions("tune")["settings"].iloc[0])
    assert plan["strategy"] == "gbqr+confidence_bound:1.5+bound_per_log_second+portfolio+blended+joint"
    assert plan["bandit"] == "increasing_effort"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--preset", "best"), "No preset is named 'best'. Choose one of default, thesis."),
        (("--starts", "opt"), "A search cannot start with opt"),
        (("--starts", "focus"), "There is no starts 'focus'"),
        (("--space", "joint", "--starts", "delta"), "A joint search has one list of starts"),
        (("--acquisition", "upper_bound:2"), "upper_bound takes no number"),
        (("--surrogate", "oracle"), "No surrogate is named 'oracle'"),
    ],
)
def test_a_choice_that_does_not_exist_gets_one_sentence(iris_csv, tmp_path, words, sentence):
    result = metaml("tune", iris_csv, "--iterations", 1, *words, "--no-kb", "--output", tmp_path / "out", code=2)

    assert sentence in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
