"""Plans of fewer rows and of fewer folds."""

import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.splits import SPLITTERS, make_plan
from metaml.splits.smaller import on_fewer_folds, on_fewer_rows
from tests.splits.tables import with_roles

N = 20


@pytest.fixture(params=SPLITTERS)
def plan_and_table(request, three_classes):
    n_rows = len(three_classes.y)
    rng = np.random.default_rng(2)
    table = with_roles(three_classes, groups=rng.integers(0, 30, n_rows), times=rng.permutation(n_rows))
    return make_plan(table, 4, splitter=SPLITTERS[request.param]), table


def test_fewer_rows_train_and_test_as_a_fold_of_the_whole_plan(plan_and_table):
    plan, table = plan_and_table

    smaller = on_fewer_rows(plan, table, N)

    train, test = smaller.split(0)
    whole_train, whole_test = plan.split(plan.n_folds - 1 if plan.is_forward else 0)
    assert len(train) == N
    assert set(train) <= set(whole_train)
    assert np.array_equal(test, whole_test)
    assert smaller.hash != plan.hash
    assert smaller.max_rows == smaller.n_used == N + len(test)


def test_more_rows_keep_those_of_fewer(plan_and_table):
    plan, table = plan_and_table

    few, more = (set(on_fewer_rows(plan, table, n).split(0)[0]) for n in (N // 2, N))

    assert len(few - more) <= 3


def test_the_same_rows_are_drawn_each_time(plan_and_table):
    plan, table = plan_and_table

    assert on_fewer_rows(plan, table, N) == on_fewer_rows(plan, table, N)


def test_where_there_are_not_more_rows_all_of_a_fold_are_used(numbers):
    plan = make_plan(numbers, 5)

    smaller = on_fewer_rows(plan, numbers, 10**6)

    assert np.array_equal(smaller.split(0)[0], plan.split(0)[0])


def test_fewer_folds_train_and_test_the_same_rows(plan_and_table):
    plan, _ = plan_and_table

    for n_folds in range(1, plan.n_folds):
        smaller = on_fewer_folds(plan, n_folds)

        assert smaller.n_folds == n_folds
        assert smaller.hash != plan.hash
        for fold in range(n_folds):
            assert all(np.array_equal(*pair) for pair in zip(smaller.split(fold), plan.split(fold), strict=True))


def test_what_cannot_be_smaller_is_refused(numbers):
    plan = make_plan(numbers, 3)

    with pytest.raises(BadRequest, match="at least 2"):
        on_fewer_rows(plan, numbers, 1)
    with pytest.raises(BadRequest, match="1 to 3"):
        on_fewer_folds(plan, 4)
