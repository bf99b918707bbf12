"""What experience advises, from Python; and that every command has a twin."""

import pytest

import metaml
from metaml.errors import BadRequest

pytestmark = pytest.mark.usefixtures("one_pool")


def test_every_command_that_does_not_only_show_has_a_twin():
    twins = {
        "tune",
        "predict",
        "suggest",
        "bot",
        "learn",
        "why",
        "reproduce",
        "describe",
        "columns",
        "replay",
        "replay_ensembles",
    }

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


def test_metafeatures_have_a_value_or_a_reason(iris):
    table = metaml.describe(iris, "target", seconds=5.0)

    assert table.columns.tolist() == ["metafeature", "value", "undefined because"]
    assert (table["value"].isna() == (table["undefined because"] != "")).all()
