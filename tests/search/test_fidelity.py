"""What a share of an evaluation is: fewer rows, folds or trees."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.errors import BadRequest
from metaml.search.fidelity import at_share, check_fidelity, halved_shares, look_shares
from metaml.splits import make_plan


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12_500, 3)), columns=list("abc"))
    return from_frame(frame.assign(y=(frame["a"] > 0).astype(int)), target="y")


def test_shares_of_rows_end_where_a_look_would_say_little(large):
    plan = make_plan(large, 1)

    assert plan.n_trained == 10_000
    assert halved_shares("rows", plan, 4) == (1 / 16, 1 / 4, 1.0)
    assert look_shares("rows", plan) == (0.2, 1.0)


def test_on_small_data_everything_is_evaluated_as_a_whole(two_classes):
    plan = make_plan(two_classes)

    assert halved_shares("rows", plan, 4) == look_shares("rows", plan) == (1.0,)


def test_fewer_rows_keep_the_tested_rows_and_the_shares_of_the_classes(large):
    plan, config = make_plan(large, 5), {"x": 1}

    same, smaller = at_share(1 / 4, "rows", "k_neighbors", config, plan, large)

    train, test = smaller.split(0)
    assert same == config
    assert smaller.n_folds == 1
    assert len(train) == 2500
    assert np.array_equal(test, plan.split(0)[1])
    assert set(train) <= set(plan.split(0)[0])
    assert large.y[train].mean() == pytest.approx(large.y.mean(), abs=0.001)


def test_fewer_folds_are_the_first_ones(large):
    plan = make_plan(large, 5)

    _, smaller = at_share(0.4, "folds", "k_neighbors", {}, plan, large)

    assert smaller.n_folds == 2
    for fold in range(2):
        assert all(np.array_equal(*pair) for pair in zip(smaller.split(fold), plan.split(fold), strict=True))


def test_fewer_trees_are_grown_where_an_algorithm_says_how_many(large):
    plan = make_plan(large, 1)
    config = ALGORITHMS["extra_trees"].space("binary").default()

    fewer, same_plan = at_share(1 / 4, "trees", "extra_trees", config, plan, large)
    least, _ = at_share(1 / 64, "trees", "extra_trees", config, plan, large)

    assert same_plan is plan
    assert fewer == {**config, "n_estimators": config["n_estimators"] // 4}
    assert ALGORITHMS["extra_trees"].space("binary").is_valid(least)


def test_algorithms_without_trees_get_fewer_rows_instead(large):
    plan, config = make_plan(large, 1), ALGORITHMS["k_neighbors"].space("binary").default()

    same, smaller = at_share(1 / 4, "trees", "k_neighbors", config, plan, large)

    assert same == config
    assert smaller.n_trained == 2500


def test_trees_name_a_hyperparameter_of_the_space():
    named = {name: found.trees for name, found in ALGORITHMS.items() if found.trees}

    assert {"random_forest", "extra_trees", "adaboost"} <= set(named)
    assert all(trees in ALGORITHMS[name].space("binary").default() for name, trees in named.items())


def test_a_fidelity_that_does_not_exist_is_refused():
    with pytest.raises(BadRequest, match="rows, folds, trees"):
        check_fidelity("epochs")
