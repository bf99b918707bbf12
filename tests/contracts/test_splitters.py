"""What every registered splitter keeps to: honest folds, and the same ones again."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.data.options import ColumnOptions
from metaml.data.roles import Roles
from metaml.splits import SPLITTERS, make_plan, splitter_of
from metaml.splits.fold_plan import plan_from

every_splitter = pytest.mark.parametrize("splitter", SPLITTERS.values(), ids=SPLITTERS)
TABLES = ["two_classes", "three_classes", "numbers"]


@pytest.fixture(params=TABLES)
def dataset(request):
    """A table whose rows also have groups of several sizes, and times with ties."""
    table = request.getfixturevalue(request.param)
    rng = np.random.default_rng(1)
    groups, times = rng.integers(0, 15, len(table.y)), rng.integers(0, 30, len(table.y)).astype(float)
    return replace(table, roles=Roles(ColumnOptions(group="g", time="t"), groups, times))


@every_splitter
@pytest.mark.parametrize("n_folds", [1, 2, 5])
def test_no_row_trains_and_tests_in_one_fold(splitter, dataset, n_folds):
    plan = make_plan(dataset, n_folds, splitter=splitter)

    for train, test in (plan.split(fold) for fold in range(plan.n_folds)):
        assert len(train)
        assert len(test)
        assert not set(train) & set(test)


@every_splitter
def test_a_row_is_tested_once_at_most(splitter, dataset):
    plan = make_plan(dataset, 5, splitter=splitter)

    tested = np.concatenate([plan.split(fold)[1] for fold in range(plan.n_folds)])
    assert len(tested) == len(set(tested)) == plan.n_tested


@every_splitter
def test_the_same_numbers_give_the_same_plan(splitter, dataset):
    first, second = (make_plan(dataset, 3, seed=4, splitter=splitter) for _ in range(2))

    assert first == second
    assert first.hash == second.hash


@every_splitter
def test_a_subsample_uses_no_more_rows_than_allowed(splitter, dataset):
    plan = make_plan(dataset, 3, max_rows=40, splitter=splitter)

    assert plan.n_used <= 40
    assert plan.max_rows == 40


@every_splitter
@pytest.mark.parametrize("n_folds", [1, 4])
def test_a_stored_strategy_leads_back_to_its_splitter(splitter, dataset, n_folds):
    plan = make_plan(dataset, n_folds, splitter=splitter)

    assert plan.strategy in splitter.strategies
    assert splitter_of(plan.strategy) is splitter


@every_splitter
@pytest.mark.parametrize("n_folds", [1, 4])
def test_a_splitter_by_group_has_no_group_on_both_sides_and_one_by_time_no_later_row_in_training(
    splitter, dataset, n_folds
):
    plan = make_plan(dataset, n_folds, splitter=splitter)

    for train, test in (plan.split(fold) for fold in range(plan.n_folds)):
        if "group" in plan.strategy:
            assert not set(dataset.roles.groups[train]) & set(dataset.roles.groups[test])
        if "forward" in plan.strategy:
            assert dataset.roles.times[train].max() < dataset.roles.times[test].min()


@every_splitter
def test_a_plan_can_be_kept_as_bytes(splitter, dataset):
    plan = make_plan(dataset, 4, splitter=splitter)

    again = plan_from(plan.content, len(dataset.y), plan.strategy, plan.n_folds, plan.seed, plan.max_rows)

    assert again == plan
    assert [part.tolist() for part in again.split(1)] == [part.tolist() for part in plan.split(1)]
