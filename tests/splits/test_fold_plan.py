import numpy as np
import pytest

from metaml.errors import BadRequest
from metaml.splits import given_plan, make_plan
from metaml.splits.fold_plan import ALWAYS_TRAINS, UNUSED, FoldPlan

PLAN = FoldPlan("given", 2, 0, None, np.array([0, 1, 0, UNUSED, ALWAYS_TRAINS], dtype=np.int16))


def test_hash_stays_what_it_was_when_plans_were_first_stored():
    plan = given_plan([0, 1, -1, 1, 0])

    assert plan.hash == "f9ddda5f1a84f566a71585a4f80fb591"


def test_hash_tells_a_given_plan_from_one_of_ours(numbers):
    plan = make_plan(numbers)

    assert given_plan(plan.assignment).hash != plan.hash


@pytest.mark.parametrize("assignment", [[0.0, 1.0], [0, 0], [1, 2], [0, 2], [-1, -1], [[0, 1]], [0, 1, -2]])
def test_given_plan_refuses_what_is_not_a_plan(assignment):
    with pytest.raises(BadRequest):
        given_plan(assignment)


def test_a_fold_trains_on_all_used_rows_but_its_own():
    train, test = PLAN.split(0)

    assert test.tolist() == [0, 2]
    assert train.tolist() == [1, 4]


def test_a_plan_counts_what_it_uses_tests_and_trains_on():
    assert (PLAN.n_used, PLAN.n_tested, PLAN.n_trained) == (4, 3, 2.5)


def test_plans_are_equal_when_their_rows_are_whatever_seed_led_to_them():
    same = FoldPlan("given", 2, 7, 100, PLAN.assignment.copy())
    other = FoldPlan("kfold", 2, 0, None, PLAN.assignment)

    assert same == PLAN
    assert hash(same) == hash(PLAN)
    assert other != PLAN
