import pytest

from metaml.errors import BadRequest
from metaml.splits import given_plan, make_plan


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
