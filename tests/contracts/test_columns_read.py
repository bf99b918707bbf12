"""Algorithms that say which columns a fitted model reads tell the truth."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame

SPARSE = {"elastic_net": {"penalty": "l1", "alpha": 0.1}, "lightgbm": {"num_leaves": 3, "learning_rate": 0.5}}
"""Settings with which a model of twelve columns reads fewer."""


@pytest.mark.parametrize("name", [name for name, found in ALGORITHMS.items() if found.reads])
def test_a_column_that_is_not_read_may_hold_anything(name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 12))).rename(columns=str)
    dataset = from_frame(frame.assign(y=(frame["0"] + frame["1"] > 0).astype(int)), target="y")
    config = {**ALGORITHMS[name].space("binary").default(), **SPARSE.get(name, {})}
    estimator = ALGORITHMS[name].unfitted(config, dataset, seed=0).fit(dataset.X, dataset.y)

    read = ALGORITHMS[name].columns_read(estimator)
    gone = dataset.X.assign(**dict.fromkeys(set(dataset.X.columns) - read, np.nan))

    assert {"0", "1"} <= read < set(dataset.X.columns)
    assert np.array_equal(estimator.predict_proba(gone), estimator.predict_proba(dataset.X))
