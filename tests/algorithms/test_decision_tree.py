"""A small tree fits on a page."""

import numpy as np
import pandas as pd

from metaml.algorithms.decision_tree import SMALL


def test_a_small_tree_asks_at_most_four_questions():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 5)), columns=list("abcde"))
    y = X.to_numpy().sum(axis=1)

    for config in SMALL.space("regression").sample(5, rng):
        estimator = SMALL.build(config, task="regression", seed=0).fit(X, y)

        assert estimator.model_.get_depth() <= 4
