"""Base learners have one degree of freedom each, and the best of them is the one that fits best."""

import numpy as np
import pytest

from metaml.algorithms.componentwise.base_learners import LearnerSet, base_learners_of
from metaml.algorithms.componentwise.effects import Term
from metaml.algorithms.componentwise.grids import value_grid


@pytest.fixture
def learners():
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.normal(size=200), rng.normal(size=200), rng.integers(4, size=200)])
    Z[::5, 1] = np.nan
    terms = [Term((place,), (value_grid(Z[:, place], is_category=place == 2),)) for place in range(3)]
    codes = [term.codes(Z) for term in terms]
    return Z, codes, base_learners_of(terms, codes, np.ones(200))


def test_each_kind_of_column_has_its_base_learners(learners):
    _, _, found = learners

    kinds = [(learner.term, learner.kind) for learner in found]

    assert kinds == [(0, "linear"), (0, "curve"), (1, "linear"), (1, "curve"), (1, "missing"), (2, "levels")]


def test_none_has_more_than_one_degree_of_freedom(learners):
    _, codes, found = learners

    for learner in found:
        rows = learner.basis[codes[learner.term]]
        hat = rows @ np.diag(learner.shrinkage) @ np.linalg.pinv(rows)
        assert np.trace(hat) == pytest.approx(1.0, abs=1e-6)


def test_a_curve_has_no_line_in_it(learners):
    Z, codes, found = learners
    curve = next(learner for learner in found if learner.kind == "curve")

    values = curve.basis[codes[0]]
    points = value_grid(Z[:, 0], is_category=False).points[codes[0]]

    assert np.abs(np.array([np.corrcoef(points, column)[0, 1] for column in values.T])).max() < 1e-8


def test_three_values_can_bend():
    column = np.repeat([1.0, 2.0, 3.0], 20)
    term = Term((0,), (value_grid(column, is_category=False),))
    codes = [term.codes(column[:, None])]

    found = base_learners_of([term], codes, np.ones(60))
    step = LearnerSet(found, codes).best(np.where(column == 2.0, 2.0, -1.0)[:, None])

    assert [learner.kind for learner in found] == ["linear", "curve"]
    assert step.values[:3, 0] == pytest.approx([-1.0, 2.0, -1.0])


def test_the_best_step_is_that_of_the_column_behind_the_response(learners):
    Z, codes, found = learners
    response = np.where(Z[:, 2] == 1, 1.0, 0.0)

    step = LearnerSet(found, codes).best((response - response.mean())[:, None])

    assert found[step.learner].kind == "levels"
    assert step.values[:, 0].argmax() == 1


def test_a_response_of_zeros_has_no_best_step(learners):
    _, codes, found = learners

    assert LearnerSet(found, codes).best(np.zeros((200, 1))) is None
