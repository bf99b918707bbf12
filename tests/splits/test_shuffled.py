import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml.errors import BadDataset, BadRequest
from metaml.splits import make_plan
from metaml.splits.shuffled import plan_folds

class_sizes = st.lists(st.integers(1, 25), min_size=1, max_size=8).filter(lambda sizes: sum(sizes) >= 2)
n_folds = st.integers(2, 10)
seeds = st.integers(0, 100)


def rows_of(sizes, seed):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


@settings(deadline=None, derandomize=True)
@given(class_sizes, n_folds, seeds)
def test_each_row_is_tested_once_and_never_trained_on_in_that_fold(sizes, n_folds, seed):
    classes = rows_of(sizes, seed)

    plan = plan_folds(len(classes), classes, n_folds=n_folds, seed=seed)

    splits = [plan.split(fold) for fold in range(plan.n_folds)]
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(classes)))
    assert all(not set(train) & set(test) for train, test in splits)
    assert all(len(train) + len(test) == len(classes) for train, test in splits)


@settings(deadline=None, derandomize=True)
@given(class_sizes, n_folds, seeds)
def test_training_parts_see_every_class_with_two_members(sizes, n_folds, seed):
    classes = rows_of(sizes, seed)

    plan = plan_folds(len(classes), classes, n_folds=n_folds, seed=seed)

    wanted = {code for code, size in enumerate(sizes) if size >= 2}
    for fold in range(plan.n_folds):
        train, _ = plan.split(fold)
        assert wanted <= set(classes[train])


@settings(deadline=None, derandomize=True)
@given(class_sizes, n_folds, seeds)
def test_folds_and_their_classes_differ_by_one_row_at_most(sizes, n_folds, seed):
    classes = rows_of(sizes, seed)

    plan = plan_folds(len(classes), classes, n_folds=n_folds, seed=seed)

    assert plan.n_folds == min(n_folds, len(classes))
    assert np.ptp(np.bincount(plan.assignment, minlength=plan.n_folds)) <= 1
    for code in range(len(sizes)):
        assert np.ptp(np.bincount(plan.assignment[classes == code], minlength=plan.n_folds)) <= 1


@settings(deadline=None, derandomize=True)
@given(class_sizes, n_folds, seeds, st.integers(2, 60))
def test_subsample_has_the_size_asked_for_in_proportion(sizes, n_folds, seed, max_rows):
    classes = rows_of(sizes, seed)

    plan = plan_folds(len(classes), classes, n_folds=n_folds, seed=seed, max_rows=max_rows)

    used = plan.assignment >= 0
    kept = np.bincount(classes[used], minlength=len(sizes))
    exact = np.array(sizes) * min(1.0, max_rows / len(classes))
    assert used.sum() == min(max_rows, len(classes))
    assert plan.max_rows == (max_rows if max_rows < len(classes) else None)
    if np.minimum(sizes, 2).sum() <= max_rows:
        assert (kept >= np.minimum(sizes, 2)).all()
    assert (kept <= np.maximum(np.ceil(exact), 2)).all()


@settings(deadline=None, derandomize=True)
@given(st.integers(2, 200), n_folds, seeds)
def test_regression_folds_partition_the_rows(n_rows, n_folds, seed):
    plan = plan_folds(n_rows, None, n_folds=n_folds, seed=seed)

    assert plan.strategy == "kfold"
    assert set(plan.assignment) == set(range(plan.n_folds))
    assert np.ptp(np.bincount(plan.assignment)) <= 1


def test_plans_of_one_seed_are_the_same_and_of_another_are_not(two_classes):
    plan, same, other = (make_plan(two_classes, seed=seed) for seed in (1, 1, 2))

    assert plan == same
    assert plan.hash == same.hash
    assert plan != other
    assert len(plan.hash) == 32


def test_task_decides_the_strategy(two_classes, numbers):
    assert make_plan(two_classes).strategy == "stratified"
    assert make_plan(numbers).strategy == "kfold"


def test_nonsense_is_refused():
    with pytest.raises(BadRequest, match="folds"):
        plan_folds(10, None, n_folds=0)
    with pytest.raises(BadRequest, match="at least 2 rows"):
        plan_folds(10, None, max_rows=1)
    with pytest.raises(BadDataset, match="at least 2 rows"):
        plan_folds(1, None)


def test_a_single_fold_holds_out_a_fifth_of_each_class_and_trains_on_the_rest():
    classes = np.repeat([0, 1], [400, 100])

    plan = plan_folds(500, classes, n_folds=1, seed=3)
    train, test = plan.split(0)

    assert (plan.strategy, plan.n_folds, plan.n_used, plan.n_tested, plan.n_trained) == ("holdout", 1, 500, 100, 400.0)
    assert np.bincount(classes[test]).tolist() == [80, 20]
    assert sorted([*train, *test]) == list(range(500))


def test_of_many_rows_no_more_are_held_out_than_are_needed():
    plan = plan_folds(200_000, None, n_folds=1, max_rows=150_000)

    assert (plan.n_used, plan.n_tested) == (150_000, 10_000)
