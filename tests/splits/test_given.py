"""Folds that a user gives."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, TimeSeriesSplit

from metaml.errors import BadRequest
from metaml.splits import GivenFolds, make_plan
from metaml.splits.given import KeptFolds
from tests.splits.tables import with_roles


def folds_of(plan):
    return [(train.tolist(), test.tolist()) for train, test in map(plan.split, range(plan.n_folds))]


@pytest.mark.parametrize("cv", [KFold(4), TimeSeriesSplit(3, gap=2, max_train_size=9), GroupKFold(3)])
def test_a_splitter_of_scikit_learn_gives_its_own_folds(numbers, cv):
    dataset = with_roles(numbers, np.arange(60) % 7)

    plan = make_plan(dataset, splitter=GivenFolds(cv))

    groups = dataset.roles.groups if isinstance(cv, GroupKFold) else None
    wanted = [(train.tolist(), test.tolist()) for train, test in cv.split(dataset.X, dataset.y, groups)]
    assert folds_of(plan) == wanted
    assert plan.strategy == "given"
    assert (plan.training is None) == isinstance(cv, KFold | GroupKFold)


def test_pairs_are_rows_of_the_raw_table(numbers):
    dataset = replace(numbers, rows=np.arange(60) + 5)

    plan = make_plan(dataset, splitter=GivenFolds([(np.arange(0, 35), np.arange(35, 65))]))

    assert folds_of(plan) == [(list(range(30)), list(range(30, 60)))]


@pytest.mark.parametrize(
    ("cv", "said"),
    [
        (RepeatedKFold(n_splits=2, n_repeats=2), "tested before"),
        ([([0, 1], [1, 2])], "trains on a row that it tests"),
        ([([], [1, 2])], "no rows to train on"),
        ([], "0 folds"),
        ([([0.5], [1])], "row numbers"),
        ([3], "not a pair"),
        (GroupKFold(3), "cannot split"),
    ],
)
def test_what_is_not_honest_is_refused(numbers, cv, said):
    with pytest.raises(BadRequest, match=said):
        make_plan(numbers, splitter=GivenFolds(cv))


def test_a_kept_plan_is_made_for_its_rows_only(numbers):
    plan = make_plan(numbers, 3)

    assert make_plan(numbers, splitter=KeptFolds(plan)) is plan
    with pytest.raises(BadRequest, match="60 rows"):
        make_plan(replace(numbers, y=numbers.y[1:]), splitter=KeptFolds(plan))
