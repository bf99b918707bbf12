"""The networks learn what trees find hard, within the time they have."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms.neural import neural_network
from metaml.algorithms.neural.inputs import Inputs
from metaml.algorithms.neural.network import Shape
from metaml.model.freezing import Freezer


def build(task="regression", seconds=None, **settings):
    space = neural_network.space(task)
    return neural_network.build({**space.default(), **settings}, task=task, seed=0, seconds=seconds)


def rows(n=300, seed=0):
    X = pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 3)), columns=list("abc"))
    return X, (X["a"] * X["b"] + np.sin(3 * X["c"])).to_numpy()


def test_it_finds_a_product_and_a_wave():
    X, y = rows(600)
    X_new, y_new = rows(200, seed=1)

    assert build(width=64).fit(X, y).score(X_new, y_new) > 0.9


def test_a_prediction_stays_in_the_range_of_the_training_rows():
    X, y = rows()

    predicted = build(width=32).fit(X, y).predict(100 * X)

    assert y.min() - 1e-6 <= predicted.min() < predicted.max() <= y.max() + 1e-6


def test_a_rare_class_gets_its_share_of_probability():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=400)})
    y = (X["x"] + rng.normal(size=400) > 2.2).to_numpy().astype(int)

    chances = build("binary", width=32).fit(X, y).predict_proba(X)[:, 1]

    assert chances.mean() == pytest.approx(y.mean(), abs=0.03)
    assert np.corrcoef(chances, X["x"])[0, 1] > 0.4


def test_training_on_all_rows_takes_as_many_epochs_as_were_best():
    X, y = rows()

    first, again = build(width=32).fit(X, y), build(width=32, refit=True).fit(X, y)

    assert again.rounds_ == first.rounds_
    assert not np.array_equal(first.predict(X), again.predict(X))


def test_a_single_row_is_predicted_as_in_a_table():
    X, y = rows()
    estimator = build(width=32).fit(X, y)

    alone = [estimator.predict(X.iloc[[place]])[0] for place in range(20)]

    assert alone == pytest.approx(estimator.predict(X)[:20], abs=1e-4)


def test_members_differ_and_their_mean_is_the_prediction():
    X, y = rows()
    model = build(width=32).fit(X, y).model_
    Z = X.to_numpy()

    members = model.network_.outputs(Z)[:, :, 0]

    assert np.std(members, axis=0).min() > 0
    assert model.network_.mean(Z)[:, 0] == pytest.approx(members.mean(axis=0))


def test_a_file_whose_parameters_do_not_fit_its_shape_is_refused():
    X, y = rows(60)
    freezer, network = Freezer(), build(width=32).fit(X, y).model_.network_
    state = {"inputs": network.inputs, "shape": network.shape, "parameters": network.parameters[:-1]}

    with pytest.raises(ValueError, match="other parameters"):
        neural_network.make_network(type(network), state)

    assert freezer.freeze(network)["object"] == "Network"
    assert isinstance(network.inputs, Inputs)
    assert isinstance(network.shape, Shape)
