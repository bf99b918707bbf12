"""Folds of whole groups."""

import numpy as np
import pytest

from metaml.errors import BadDataset
from metaml.splits import make_plan
from metaml.splits.group import MOST_PLACED, group_parts
from tests.splits.tables import with_roles


def test_folds_have_about_as_many_rows_of_each_class(two_classes):
    groups = np.arange(len(two_classes.y)) // 2

    plan = make_plan(with_roles(two_classes, groups), 5)

    sizes = [np.bincount(two_classes.y[plan.split(fold)[1]], minlength=2) for fold in range(5)]
    assert plan.strategy == "group"
    assert np.ptp(np.sum(sizes, axis=1)) <= 4
    assert np.ptp(sizes, axis=0).max() <= 4


def test_the_order_of_the_rows_does_not_matter(two_classes):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, len(two_classes.y))
    order = rng.permutation(len(groups))

    parts, _ = group_parts(groups, two_classes.y, 4, seed=0)
    again, _ = group_parts(groups[order], two_classes.y[order], 4, seed=0)

    assert again.tolist() == parts[order].tolist()


def test_there_are_no_more_folds_than_groups(numbers):
    plan = make_plan(with_roles(numbers, np.arange(60) % 3), 5)

    assert plan.n_folds == 3


def test_many_small_groups_are_dealt_in_turn():
    groups = np.repeat(np.arange(2 * MOST_PLACED), 2)

    parts, _ = group_parts(groups, None, 4, seed=0)

    assert np.bincount(parts).tolist() == [len(groups) // 4] * 4
    assert (parts[::2] == parts[1::2]).all()


def test_a_single_fold_holds_out_whole_groups(numbers):
    dataset = with_roles(numbers, np.arange(60) // 4)

    plan = make_plan(dataset, 1)
    train, test = plan.split(0)

    assert plan.strategy == "group_holdout"
    assert len(test) == 12
    assert not set(dataset.roles.groups[train]) & set(dataset.roles.groups[test])


def test_one_group_cannot_be_split(numbers):
    with pytest.raises(BadDataset, match="one group only"):
        make_plan(with_roles(numbers, np.zeros(60)), 5)
