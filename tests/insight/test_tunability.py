import math
from dataclasses import replace

import numpy as np
import pytest

from metaml.insight import tunability
from tests.insight.made_runs import SPACE, made_grid, made_runs


@pytest.fixture(scope="module")
def found():
    return tunability(made_runs(60))


def test_the_gain_over_the_default_is_near_the_truth(found):
    # The default is 0.3 * (unit(0.5) - 0.2) ** 2 = 0.126 below the best, and a little more for its leaves.
    assert 0.08 < found.over_default.mean < 0.16
    assert found.over_default.n_datasets == 4
    assert found.reference == SPACE.default()


def test_the_hyperparameter_that_decides_comes_first(found):
    assert found.hyperparameters[0].name == "a"
    assert {gain.name for gain in found.hyperparameters} == {"a", "b", "leaves", "kind"}


def test_one_hyperparameter_gains_no_more_than_all(found):
    assert all(gain.mean <= found.over_default.mean + 0.02 for gain in found.hyperparameters)


def test_the_best_single_configuration_leaves_less_to_gain_than_the_default(found):
    assert 0 <= found.over_best_single.mean < found.over_default.mean


def test_held_out_runs_promise_no_gain_where_scores_are_noise():
    runs = made_runs(40, sizes=(100,) * 12)
    noise = np.random.default_rng(1).normal(size=len(runs.scores))

    gain = tunability(replace(runs, scores=noise)).over_default

    assert gain.mean > 0.3
    assert abs(gain.held_out) < 0.3


def test_a_full_grid_is_looked_up_without_a_model():
    found = tunability(made_grid(), default={"leaves": 11, "rate": 0.05})

    assert found.fit == 1.0
    # 9 leaves too many on small data sets and 5 on large ones, at 0.01 each; the rate costs 0.05.
    assert found.over_default.mean == pytest.approx(0.07 + 0.05)
    assert {gain.name: round(gain.mean, 6) for gain in found.hyperparameters} == {"leaves": 0.07, "rate": 0.05}
    assert math.isnan(found.over_default.held_out)


def test_a_grid_without_a_default_is_compared_with_the_best_single_configuration():
    found = tunability(made_grid((100, 1000, 2000)))

    assert found.over_default is None
    assert found.reference == found.best_single == {"leaves": 6, "rate": 0.1}
    assert found.over_best_single.mean == pytest.approx(0.04 / 3)


def test_too_few_runs_give_no_answer():
    assert tunability(made_runs(5)) is None
