"""Sampled contributions are Shapley values, and sum to the prediction whatever the number of walks."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from metaml.explanation.sampling import sampled_contributions

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(6, 3)), columns=list("abc"))
BACKGROUND = pd.DataFrame(RNG.normal(size=(40, 3)), columns=list("abc"))
GROUPS = np.arange(3)


def crossed(rows):
    return (rows["a"] * rows["b"] + rows["c"]).to_numpy()[:, None]


def linear(rows):
    return (2 * rows["a"] - rows["c"]).to_numpy()[:, None]


def explained(function, n_walks, background=BACKGROUND, groups=GROUPS):
    rng = np.random.default_rng(1)
    return sampled_contributions([function], X, background, groups, n_walks=n_walks, rng=rng)


@pytest.mark.parametrize("n_walks", [1, 7])
def test_the_sum_is_exact(n_walks):
    assert explained(crossed, n_walks).total == pytest.approx(crossed(X), abs=1e-12)


def test_from_one_background_row_all_orders_are_the_shapley_values():
    start = BACKGROUND.iloc[:1]
    exact = np.zeros((6, 3))
    for order in permutations(range(3)):
        current, before = pd.concat([start] * 6, ignore_index=True), crossed(start)[0, 0]
        for column in order:
            current["abc"[column]] = X["abc"[column]]
            exact[:, column] += (crossed(current)[:, 0] - before) / 6
            before = crossed(current)[:, 0]

    found = explained(crossed, 60, background=start)

    # A pair of walks, one the reverse of the other, is exact where columns interact in pairs.
    assert found.values[:, :, 0] == pytest.approx(exact, abs=1e-12)


def test_a_linear_model_is_its_coefficients_times_the_distance_from_the_base():
    found = explained(linear, 40)

    assert found.values[:, 1, 0] == pytest.approx(0.0)
    offsets = found.values[:, 0, 0] - 2 * X["a"].to_numpy()
    assert offsets == pytest.approx(offsets[0])
    assert found.base[0] == pytest.approx(linear(BACKGROUND).mean(), abs=0.3)


def test_columns_of_a_group_move_together():
    found = explained(crossed, 3, groups=np.array([0, 0, 1]))

    assert found.values.shape == (6, 2, 1)
    assert found.total == pytest.approx(crossed(X), abs=1e-12)


def test_the_mean_of_several_functions_is_explained():
    rng = np.random.default_rng(0)

    found = sampled_contributions([crossed, linear], X, BACKGROUND, GROUPS, n_walks=2, rng=rng)

    assert found.total == pytest.approx((crossed(X) + linear(X)) / 2, abs=1e-12)
