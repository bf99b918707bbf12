"""A model that can be read is taken apart without a loss: what is written down gives its predictions."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS, READABLE
from metaml.data import from_frame
from metaml.explanation.readable import Leaf, readable_model


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.integers(0, 30, 300) * 1.0, "age": rng.integers(0, 9, 300) * 1.0})
    frame["kind"] = rng.choice(["a", "b", "c"], 300)
    frame["noise"] = rng.integers(0, 5, 300) * 1.0
    frame.loc[::9, "age"] = np.nan
    return frame


def price(frame):
    return np.sin(frame["size"] / 5) + (frame["kind"] == "b") + frame["age"].fillna(12) / 9


def dataset(frame, task):
    score = price(frame) + np.random.default_rng(1).normal(0, 0.1, len(frame))
    if task == "regression":
        return from_frame(frame.assign(y=100 + 9 * score), "y", task=task)
    return from_frame(frame.assign(y=np.digitize(score, [1.0] if task == "binary" else [0.8, 1.5])), "y", task=task)


def fitted(name, data, **settings):
    config = {**ALGORITHMS[name].space(data.task).default(), **settings}
    return ALGORITHMS[name].build(config, task=data.task, seed=0).fit(data.X, data.y)


def test_a_sum_a_line_and_a_small_tree_can_be_read():
    # Where its library is installed, `ebm` is one of them.
    assert [name for name in READABLE if name != "ebm"] == ["elastic_net", "small_tree", "additive"]


@pytest.mark.parametrize("name", ["additive", "elastic_net"])
def test_what_is_written_down_of_a_number_gives_its_predictions(table, name):
    data = dataset(table, "regression")
    estimator = fitted(name, data)

    found = readable_model(name, (estimator,), data.X)

    assert found.scores(data.X)[:, 0] == pytest.approx(estimator.predict(data.X), abs=1e-6)


def test_a_pair_is_written_down_as_a_grid(table):
    data = dataset(table, "regression")
    estimator = fitted("additive", data, n_pairs=2)

    found = readable_model("additive", (estimator,), data.X)

    # The grid has fewer points than a column of thirty numbers.
    assert np.abs(found.scores(data.X)[:, 0] - estimator.predict(data.X)).mean() < 0.02 * data.y.std()
    assert any(len(effect.columns) == 2 for effect in found.effects)


@pytest.mark.parametrize("name", ["additive", "elastic_net"])
def test_what_is_written_down_of_classes_gives_their_probabilities(table, name):
    for task in ("binary", "multiclass"):
        data = dataset(table, task)
        estimator = fitted(name, data)

        scores = readable_model(name, (estimator,), data.X).scores(data.X)

        scores = np.column_stack([np.zeros(len(scores)), scores]) if task == "binary" else scores
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        assert chances == pytest.approx(estimator.predict_proba(data.X), abs=1e-6)


def test_the_base_is_what_the_average_row_gets_and_the_strongest_effect_is_first(table):
    data = dataset(table, "regression")
    estimator = fitted("additive", data)

    found = readable_model("additive", (estimator,), data.X)

    assert found.base[0] == pytest.approx(estimator.predict(data.X).mean())
    assert {effect.columns[0] for effect in found.effects[:2]} == {"size", "kind"}
    assert [effect.strength for effect in found.effects] == sorted(
        [effect.strength for effect in found.effects], reverse=True
    )


def test_the_models_of_folds_are_averaged(table):
    data = dataset(table, "regression")
    both = tuple(fitted("additive", data, learning_rate=rate) for rate in (0.1, 0.3))

    found = readable_model("additive", both, data.X)

    mean = (both[0].predict(data.X) + both[1].predict(data.X)) / 2
    assert found.scores(data.X)[:, 0] == pytest.approx(mean, abs=1e-6)


def test_a_column_that_some_folds_do_not_use_counts_as_zero_in_them(table):
    data, flat = dataset(table, "regression"), table.assign(size=0.0)
    both = (fitted("additive", data), fitted("additive", dataset(flat, "regression")))

    found = readable_model("additive", both, data.X)

    mean = (both[0].predict(data.X) + both[1].predict(data.X)) / 2
    assert any(effect.columns == ("size",) for effect in found.effects)
    assert found.scores(data.X)[:, 0] == pytest.approx(mean, abs=1e-6)


def followed(node, row):
    while not isinstance(node, Leaf):
        value = row[node.column]
        if node.limit is None:
            is_yes = value in node.levels
        else:
            is_yes = node.missing_is_yes if np.isnan(value) else value <= node.limit
        node = node.yes if is_yes else node.no
    return node.values


def test_who_follows_the_questions_of_a_tree_ends_at_its_prediction(table):
    data = dataset(table, "regression")
    estimator = fitted("small_tree", data)

    tree = readable_model("small_tree", (estimator,), data.X).tree

    reached = [followed(tree, row)[0] for row in data.X.to_dict("records")]
    assert reached == pytest.approx(estimator.predict(data.X))


def test_a_forest_cannot_be_read(table):
    data = dataset(table, "binary")

    assert readable_model("extra_trees", (fitted("extra_trees", data, n_estimators=20),), data.X) is None
