"""Impact encoding does not leak the target: a random category cannot score above chance."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.preprocessing import Head

N_ROWS, N_LEVELS = 300, 120


def noise(seed):
    rng = np.random.default_rng(seed)
    levels = [f"level {i}" for i in rng.integers(N_LEVELS, size=N_ROWS)]
    return pd.DataFrame({"kind": pd.Categorical(levels)}), rng.permutation(np.arange(N_ROWS) % 2)


def with_impact(name, **settings):
    space = ALGORITHMS[name].space("binary")
    config = space.complete({**space.default(), "encoding": "impact", **settings})
    return ALGORITHMS[name].build(config, task="binary", seed=0)


@pytest.mark.parametrize("name", ["decision_tree", "elastic_net", "lightgbm", "gradient_boosting"])
def test_a_random_category_scores_at_chance_in_cross_validation(name):
    scores = []
    for seed in range(8):
        X, y = noise(seed)
        for train, test in StratifiedKFold(3).split(X, y):
            estimator = with_impact(name).fit(X.iloc[train], y[train])
            scores.append(roc_auc_score(y[test], estimator.predict_proba(X.iloc[test])[:, 1]))

    assert np.mean(scores) == pytest.approx(0.5, abs=0.04)


def test_a_random_category_does_not_look_good_to_the_model_that_is_trained_on_it():
    cross_fitted, naive = [], []
    for seed in range(20):
        X, y = noise(seed)
        head = Head(encoding="impact", seed=seed)
        cross_fitted.append(roc_auc_score(y, head.fit_transform(X, y, 2)))
        naive.append(roc_auc_score(y, head.transform(X)))

    assert np.mean(cross_fitted) == pytest.approx(0.5, abs=0.03)
    assert np.mean(naive) > 0.8  # what a model would see without cross-fitting


def test_rows_that_decide_when_to_stop_do_not_know_their_own_target():
    for seed in range(3):
        X, y = noise(seed)

        estimator = with_impact("gradient_boosting", min_samples_leaf=2).fit(X, y)

        assert estimator.rounds_ < 40
