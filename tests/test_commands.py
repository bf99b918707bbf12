"""The Python twins of the commands as a program or a notebook calls them."""

import pytest
from sklearn.datasets import load_iris

import metaml
from metaml.errors import BadDataset, BadRequest
from metaml_kb.errors import CannotOpen
from tests.experienced import fill

FAST = {"algorithms": ("decision_tree", "k_neighbors"), "folds": 2, "iterations": 4, "kb": ":memory:"}
pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).frame


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A knowledge base with six runs on the built-in data sets."""
    path = tmp_path_factory.mktemp("made") / "kb.db"
    report = metaml.bot(builtin=True, algorithms="decision_tree", runs=6, folds=2, seed=0, kb=path)
    assert (report.n_done, report.n_failed) == (6, 0)
    return path


@pytest.fixture(scope="module")
def experienced(tmp_path_factory):
    """A knowledge base with enough data sets to learn from."""
    path = tmp_path_factory.mktemp("experienced") / "kb.db"
    with metaml.open_kb(path) as kb:
        fill(kb, n_runs=24)
    return path


def test_every_command_that_does_not_only_show_has_a_twin():
    twins = {"tune", "predict", "suggest", "bot", "learn", "why", "reproduce", "describe", "columns", "replay"}

    assert twins <= set(metaml.__all__)


def test_suggestions_are_a_frame_with_reasons(iris, experienced):
    table = metaml.suggest(iris, "target", n=3, kb=experienced, algorithms="decision_tree,k_neighbors")

    assert table["rank"].tolist() == [1, 2, 3]
    assert set(table["algorithm"]) <= {"decision_tree", "k_neighbors"}
    assert all(table["reasons"])
    assert all(table["carriers"])
    assert (table["seconds"] > 0).all()


def test_too_little_experience_suggests_nothing(iris):
    table = metaml.suggest(iris, kb=":memory:")

    assert table.empty
    assert "config" in table


def test_suggestions_are_at_least_one(iris):
    with pytest.raises(BadRequest, match="n is 0"):
        metaml.suggest(iris, n=0, kb=":memory:")


def test_learning_returns_what_it_learnt_from(experienced):
    table = metaml.learn(kb=experienced)

    assert table[["task", "algorithms", "data sets"]].values.tolist() == [["classification", 2, 14]]
    assert table["runs"].item() > 600


def test_the_rankings_can_be_judged(experienced):
    table = metaml.learn(evaluate=True, algorithms="decision_tree", kb=experienced)

    assert table.set_index("ranking").loc["both", "tau"] > 0.5


def test_why_and_reproduce_tell_of_a_run_of_the_bot(made):
    with metaml.open_kb(made) as kb:
        key = kb.runs(dataset="iris")["run"][0]

        facts = metaml.why(key[:10], kb)
        again = metaml.reproduce(key[:10], kb=kb)

    assert (facts["run"], facts["dataset"]["name"]) == (key, "iris")
    assert again.is_same
    assert again.n_compared > 0


def test_a_run_on_a_frame_is_reproduced_from_the_frame(iris, tmp_path):
    asked = {"iterations": 1, "algorithms": "decision_tree", "kb": tmp_path / "kb.db"}
    metaml.tune(iris, "target", **FAST | asked)
    with metaml.open_kb(tmp_path / "kb.db") as kb:
        key = kb.runs()["run"][0]

    assert metaml.reproduce(key, iris, kb=tmp_path / "kb.db").is_same
    with pytest.raises(BadDataset, match="The frame is not the data"):
        metaml.reproduce(key, iris.head(100), kb=tmp_path / "kb.db")


def test_metafeatures_have_a_value_or_a_reason(iris):
    table = metaml.describe(iris, "target", seconds=5.0)

    assert table.columns.tolist() == ["metafeature", "value", "undefined because"]
    assert (table["value"].isna() == (table["undefined because"] != "")).all()


def test_the_bot_wants_data_sets():
    with pytest.raises(BadRequest, match="builtin=True"):
        metaml.bot(runs=1, kb=":memory:")


def test_the_bot_takes_a_folder(iris, tmp_path):
    iris.to_csv(tmp_path / "iris.csv", index=False)

    with metaml.open_kb(":memory:") as kb:
        report = metaml.bot(tmp_path, algorithms=["decision_tree"], runs=1, folds=2, time_budget=60, kb=kb)
        names = kb.runs()["dataset"].tolist()

    assert (report.n_done, names) == (1, ["iris"])


def test_optimisers_are_compared_on_recorded_runs(experienced):
    found = metaml.replay(
        optimisers="forest,random", algorithms="decision_tree", seeds=1, evaluations=10, kb=experienced
    )

    assert found.regret["optimiser"].tolist() == ["forest", "random"]
    assert found.regret["data sets"].tolist() == [14, 14]


def test_a_knowledge_base_that_is_missing_is_not_made(tmp_path):
    with pytest.raises(CannotOpen):
        metaml.why("1f3a", tmp_path / "missing.db")

    assert list(tmp_path.iterdir()) == []
