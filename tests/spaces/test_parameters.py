"""Parameters: real and whole numbers and choices on the unit interval."""

from collections import Counter

import numpy as np
import pytest

from metaml.spaces import Choice, Float, Integer, Space
from metaml.spaces.parameters import can_change, is_active, step

PARAMETERS = [
    Float("share", 0.0, 1.0, default=0.5),
    Float("gamma", 1e-3, 10.0, default=1.0, log=True),
    Integer("degree", 2, 5, default=3),
    Integer("trees", 1, 500, default=100, log=True),
    Choice("kernel", ("rbf", "poly", None), default="rbf"),
]
by_name = pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)


def test_floats_have_six_significant_digits_and_stay_in_range():
    space = Space([Float("x", 1 / 3, 2 / 3, default=0.5), Float("y", 1e-9, 1e9, default=1.0, log=True)])

    configs = space.sample(1000, np.random.default_rng(0))

    assert all(1 / 3 <= c["x"] <= 2 / 3 for c in configs)
    assert all(float(f"{c['y']:.6g}") == c["y"] for c in configs)


def test_a_value_that_is_not_drawn_may_be_named():
    plain, wider = (Choice("code", ("a", "b"), default="a", unasked=more) for more in ((), ("hashed",)))

    drawn = [Space([choice]).sample(50, np.random.default_rng(0)) for choice in (plain, wider)]

    assert drawn[0] == drawn[1]
    assert Space([wider]).is_valid({"code": "hashed"})
    assert not Space([plain]).is_valid({"code": "hashed"})
    assert Space([wider]).density({"code": "hashed"}) == 0
    assert wider.to_unit("hashed") == wider.to_unit("a")
    assert step(wider, "hashed", np.random.default_rng(0)) in ("a", "b")


def test_whole_numbers_are_drawn_as_often_as_their_density_says():
    space = Space([Integer("n", 1, 6, default=1, log=True)])
    n = 20_000

    counts = Counter(c["n"] for c in space.sample(n, np.random.default_rng(0)))

    assert set(counts) == {1, 2, 3, 4, 5, 6}
    assert all(counts[k] / n == pytest.approx(space.density({"n": k}), rel=0.1) for k in counts)
    assert sum(space.density({"n": k}) for k in range(1, 7)) == pytest.approx(1.0)


@by_name
def test_unit_places_lead_back_to_the_same_value(parameter):
    for value in parameter.from_unit(np.random.default_rng(3).random(50)):
        place = parameter.to_unit(value)

        assert 0 <= place <= 1
        again = parameter.from_unit(np.array([place]))[0]
        assert again == (pytest.approx(value, rel=1e-5) if isinstance(parameter, Float) else value)


@by_name
def test_a_step_leads_to_a_valid_value_and_a_choice_to_another_one(parameter):
    rng = np.random.default_rng(0)

    steps = [step(parameter, parameter.default, rng) for _ in range(50)]

    assert all(parameter.invalid_because(value) is None for value in steps)
    assert len(set(steps)) > 1
    if isinstance(parameter, Choice):
        assert parameter.default not in steps


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (0, 1.5, "between 0 and 1"),
        (0, "much", "must be a number"),
        (0, True, "must be a number"),
        (2, 2.0, "must be a whole number"),
        (2, 9, "between 2 and 5"),
        (4, "linear", "one of 'rbf', 'poly', None"),
    ],
)
def test_a_value_that_does_not_fit_is_told_why(place, value, says):
    assert says in PARAMETERS[place].invalid_because(value)


def test_one_and_true_are_different_choices():
    assert Choice("c", (1, 2), default=1).invalid_because(True) is not None


def test_a_parameter_with_one_value_cannot_change():
    assert not can_change(Choice("c", ("x",), default="x"))
    assert not can_change(Integer("n", 3, 3, default=3))
    assert can_change(PARAMETERS[0])


def test_a_condition_holds_only_where_the_parent_is_active():
    gamma = Float("gamma", 0.0, 1.0, default=0.5, when=("kernel", ("rbf",)))

    assert is_active(gamma, {"kernel": "rbf"})
    assert not is_active(gamma, {"kernel": "poly"})
    assert not is_active(gamma, {})
    assert is_active(PARAMETERS[0], {})
