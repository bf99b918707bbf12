"""Folds in the order of time."""

import numpy as np
import pytest

from metaml.errors import BadDataset
from metaml.splits import make_plan
from tests.splits.tables import with_roles


def test_the_first_half_only_trains_and_the_rest_is_tested_in_order(numbers):
    plan = make_plan(with_roles(numbers, times=np.arange(60)), 5)

    assert plan.strategy == "forward"
    assert [plan.split(fold)[0].tolist() for fold in (0, 4)] == [list(range(30)), list(range(54))]
    assert [plan.split(fold)[1].tolist() for fold in (0, 4)] == [list(range(30, 36)), list(range(54, 60))]
    assert plan.n_trained == pytest.approx(42)


def test_the_order_of_the_rows_does_not_matter(numbers):
    rng = np.random.default_rng(0)
    times, order = rng.integers(0, 40, 60), rng.permutation(60)

    plan = make_plan(with_roles(numbers, times=times), 4)
    again = make_plan(with_roles(numbers, times=times[order]), 4)

    assert again.assignment.tolist() == plan.assignment[order].tolist()


def test_rows_of_one_moment_stay_together(numbers):
    times = np.repeat(np.arange(6), 10)

    plan = make_plan(with_roles(numbers, times=times), 5)

    assert plan.n_folds == 3
    assert all(len(set(plan.assignment[times == moment])) == 1 for moment in range(6))


def test_a_single_fold_holds_out_the_latest_fifth(numbers):
    plan = make_plan(with_roles(numbers, times=-np.arange(60)), 1)

    assert plan.strategy == "forward_holdout"
    assert plan.split(0)[1].tolist() == list(range(12))


def test_a_single_moment_has_no_past(numbers):
    with pytest.raises(BadDataset, match="same time"):
        make_plan(with_roles(numbers, times=np.zeros(60)), 5)


def test_groups_that_live_on_are_tested_in_parts(numbers):
    dataset = with_roles(numbers, np.arange(60) % 6, np.arange(60))

    plan = make_plan(dataset, 5)

    assert plan.strategy == "group_forward"
    for fold in range(plan.n_folds):
        train, test = plan.split(fold)
        assert len(train)
        assert not set(dataset.roles.groups[train]) & set(dataset.roles.groups[test])
        assert train.max() < test.min()


def test_groups_that_come_one_after_the_other_are_all_tested(numbers):
    plan = make_plan(with_roles(numbers, np.arange(60) // 3, np.arange(60)), 5)

    assert plan.n_tested == 30


def test_a_group_that_is_everywhere_at_all_times_is_refused(numbers):
    groups = np.append(np.zeros(59), 1)

    with pytest.raises(BadDataset, match="Leave out --group or --time"):
        make_plan(with_roles(numbers, groups, np.arange(60)), 5)


def test_without_a_fold_its_rows_are_not_used(numbers):
    plan = make_plan(with_roles(numbers, np.arange(60) // 3, np.arange(60)), 5)

    less = plan.without_fold(1)

    assert less.n_folds == plan.n_folds - 1
    assert not set(less.split(3)[0]) & set(plan.split(1)[1])
