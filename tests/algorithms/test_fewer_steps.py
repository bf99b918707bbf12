"""Fewer iterations or fewer rows, where a learner cannot be stopped."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.fewer_steps import fit_iterations, growing_rows

pytestmark = pytest.mark.filterwarnings("ignore", category=ConvergenceWarning)


class Clock:
    """A clock that moves when the test says so."""

    now = 0.0

    def __call__(self):
        return self.now


def sizes(n_rows, seconds, power, y=None):
    """How many rows the fits get if they take (rows / 1000) ** power seconds; and whether there were too few."""
    clock = Clock()
    allowance = Allowance(seconds, clock=clock)
    found = []
    for rows in growing_rows(np.zeros(n_rows) if y is None else y, allowance, power=1.0, seed=0):
        assert len(set(rows.tolist())) == len(rows)
        found.append(len(rows))
        clock.now += (len(rows) / 1000) ** power
    return found, allowance.ended_training, clock.now


def test_without_a_limit_or_with_few_rows_all_come_at_once():
    assert sizes(20_000, None, 2)[:2] == ([20_000], False)
    assert sizes(500, 0.0, 2)[:2] == ([500], False)


def test_with_much_time_a_first_few_tell_that_there_is_enough():
    assert sizes(20_000, 1e6, 2)[:2] == ([313, 20_000], False)


@pytest.mark.parametrize("power", [1, 1.5, 2, 2.5, 3])
def test_the_rows_grow_as_far_as_the_time_lasts(power):
    whole = 20**power  # seconds that all rows take

    for share in (0.02, 0.1, 0.5):
        found, ended, used = sizes(20_000, share * whole, power)

        assert ended
        assert found == sorted(found)
        assert 0.1 * share * whole < used < 1.2 * share * whole
        assert found[-1] < 20_000


def test_with_no_time_at_all_there_are_a_few_rows_of_every_class():
    y = np.repeat([0, 1, 2], [5000, 3, 1])
    allowance = Allowance(0.0)

    (rows,) = growing_rows(y, allowance, power=2.0, seed=0)

    assert len(rows) < 500
    assert np.bincount(y[rows])[1:].tolist() >= [2, 1]
    assert allowance.ended_training


def test_many_classes_take_more_rows_than_the_first_few():
    y = np.arange(2000) % 400

    assert sizes(2000, 0.0, 2, y)[0] == [800]


class Iterating(LogisticRegression):
    """Logistic regression of which each iteration takes a second."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.clock.now += float(self.n_iter_.max())
        return self


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, 3), (5.0, 3), (3.0 + 8.0, 8), (1000.0, None)])
def test_iterations_are_as_many_as_there_is_time_for(seconds, expected):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 10)) * np.logspace(0, 2, 10)
    y = (Z[:, 0] + rng.normal(size=300) > 0).astype(int)
    whole = LogisticRegression(max_iter=500, C=1e3).fit(Z, y)
    model = Iterating(max_iter=500, C=1e3)
    model.clock = Clock()
    allowance = Allowance(seconds, clock=model.clock)

    fit_iterations(model, Z, y, None, allowance)

    assert model.n_iter_ == (whole.n_iter_ if expected is None else expected)
    assert allowance.ended_training is (expected is not None)
    assert model.max_iter == 500
    assert np.array_equal(model.coef_, whole.coef_) is (expected is None)
