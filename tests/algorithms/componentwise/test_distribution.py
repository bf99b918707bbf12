"""A distribution knows where a number varies more, and how its quantiles lie."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms.componentwise import distribution, distribution_regressor
from metaml.algorithms.componentwise.families import FAMILIES
from metaml.algorithms.componentwise.losses import loss_of
from metaml.algorithms.componentwise.selection import Rows, stability
from metaml.errors import BadRequest


def build(**settings):
    config = {**distribution.space("regression").default(), **settings}
    return distribution.build(config, task="regression", seed=0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, size=(900, 6)), columns=[f"x{i}" for i in range(6)])
    return X, X["x0"].to_numpy() + np.exp(X["x1"].to_numpy()) * rng.normal(size=900)


def test_spread_follows_its_own_column(table):
    X, y = table
    estimator = build().fit(X[:700], y[:700])

    low, middle, high = estimator.predict_quantiles(X[700:], [0.05, 0.5, 0.95]).T

    assert 0.84 < ((low <= y[700:]) & (y[700:] <= high)).mean() < 0.95
    assert (low < middle).all()
    assert (middle < high).all()
    assert np.corrcoef(np.log(high - low), X["x1"][700:])[0, 1] > 0.9


def test_parameters_select_columns_of_their_own(table):
    X, y = table
    estimator = build(columns="stability").fit(X, y)
    names = estimator.head_.sources()
    used = [{names[e.term.columns[0]] for e in estimator.model_.effects_ if np.ptp(e.values[:, k])} for k in (0, 1)]

    assert "x0" in used[0]
    assert "x1" in used[1]
    assert used[0] | used[1] == {"x0", "x1"}


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_predicts_positive_numbers_and_covers_them(table, family):
    X, _ = table
    rng = np.random.default_rng(1)
    mean = np.exp(1 + X["x0"].to_numpy())
    y = (
        rng.poisson(mean * rng.gamma(4, 0.25, 900)).astype(float)
        if family == "negative_binomial"
        else rng.gamma(4, mean / 4)
    )

    estimator = build(family=family).fit(X[:700], y[:700])

    low, high = estimator.predict_quantiles(X[700:], [0.05, 0.95]).T
    assert estimator.family_ == family
    assert estimator.predict(X[700:]).mean() == pytest.approx(y[700:].mean(), rel=0.15)
    assert ((low <= y[700:]) & (y[700:] <= high)).mean() > 0.8
    assert family == "gaussian" or (low >= 0).all()


def test_one_value_has_no_spread(table):
    X, _ = table

    estimator = build().fit(X, np.full(900, 7.0))

    assert estimator.predict_quantiles(X[:2], [0.1, 0.9]).tolist() == [[7.0, 7.0], [7.0, 7.0]]


def test_classes_are_refused():
    with pytest.raises(BadRequest, match="is for numbers"):
        distribution.build(distribution.space("binary").default(), task="binary", seed=0)


def test_stability_selection_counts_each_parameter(table):
    X, y = table
    rows = Rows(X.to_numpy(), np.zeros(6, dtype=bool), np.ones(900), y[:, None])
    family = distribution_regressor.family_named("gaussian")

    found = stability(rows, family, np.random.default_rng(0), n_pairs=8)

    assert found.frequency.shape == (2, 6)
    assert found.frequency[0, 0] == found.frequency[1, 1] == 1.0
    assert stability(rows, loss_of(None), np.random.default_rng(0), n_pairs=1).frequency.shape == (1, 6)
