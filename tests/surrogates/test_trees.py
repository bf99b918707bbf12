"""GBQR, forests and boosting: what sets each apart."""

import numpy as np
import pytest

from metaml.surrogates.duration import Duration
from metaml.surrogates.extra_trees import ExtraTrees
from metaml.surrogates.forest import Forest, mixture
from metaml.surrogates.mean_boosting import MeanBoosting
from metaml.surrogates.quantile_boosting import QuantileBoosting

rng = np.random.default_rng(2)
ROWS = rng.random((40, 2))
SCORES = (ROWS[:, 0] > 0.5) + 0.2 * rng.random(40)


def test_gbqr_is_not_constant_on_ten_rows():
    upper = QuantileBoosting().fit(ROWS[:10], SCORES[:10]).predict(ROWS).upper

    assert np.ptp(upper) > 0.5


def test_gbqr_with_leaves_of_twenty_rows_is_constant_on_ten():
    stiff = QuantileBoosting(settings={"min_data_in_leaf": 20})

    upper = stiff.fit(ROWS[:10], SCORES[:10]).predict(ROWS).upper

    assert np.ptp(upper) == 0


def test_gbqr_is_above_most_scores():
    upper = QuantileBoosting(n_leaves=2, n_trees=30).fit(ROWS, SCORES).predict(ROWS).upper

    assert np.mean(upper >= SCORES) > 0.75


def test_members_are_averaged():
    settings = {"extra_trees": True}
    singles = [QuantileBoosting(seed=s, settings=settings).fit(ROWS, SCORES).predict(ROWS).upper for s in (3, 4)]

    both = QuantileBoosting(seed=3, n_members=2, settings=settings).fit(ROWS, SCORES).predict(ROWS).upper

    assert np.allclose(both, np.mean(singles, axis=0))


def test_a_mixture_has_the_moments_of_equations_3_1_and_3_2():
    belief = mixture(np.array([[1.0], [3.0]]), np.array([[0.5], [1.5]]))

    assert belief.mean.tolist() == [2.0]
    assert belief.std[0] ** 2 == pytest.approx((0.5 + 1.0 + 1.5 + 9.0) / 2 - 4.0)


def test_the_forest_never_reports_less_variance_than_its_floor():
    belief = Forest(min_samples_split=2).fit(ROWS, np.full(40, 0.5)).predict(ROWS)

    assert np.allclose(belief.std, 0.1)


def test_tree_level_variance_is_the_disagreement_alone():
    belief = Forest(leaf_level=False).fit(ROWS, np.full(40, 0.5)).predict(ROWS)

    assert belief.std.max() < 1e-8


def test_trees_and_boosting_find_the_step():
    for surrogate in (ExtraTrees(n_trees=20), MeanBoosting(), Forest()):
        mean = surrogate.fit(ROWS, SCORES).predict(np.array([[0.1, 0.5], [0.9, 0.5]])).mean

        assert mean[1] - mean[0] > 0.6


def test_durations_are_learnt_as_logarithms():
    seconds = 10.0 ** (3 * ROWS[:, 0] - 2)

    predicted = Duration().fit(ROWS, seconds).predict(ROWS)

    assert np.sqrt(np.mean((np.log(predicted) - np.log(seconds)) ** 2)) < 0.3
    assert (predicted > 0).all()


def test_a_single_duration_is_expected_everywhere():
    predicted = Duration().fit(ROWS[:1], np.array([2.5])).predict(ROWS[:3])

    assert predicted == pytest.approx([2.5, 2.5, 2.5])


def test_a_refreshed_model_lags_by_a_row_and_depends_on_the_rows_alone():
    lagging = QuantileBoosting(refresh=20)
    for n in (38, 39, 40):
        lagging.fit(ROWS[:n], SCORES[:n])

    at_once = QuantileBoosting(refresh=20).fit(ROWS, SCORES)
    plain = QuantileBoosting().fit(ROWS[:39], SCORES[:39])

    assert np.array_equal(lagging.predict(ROWS).upper, at_once.predict(ROWS).upper)
    assert np.array_equal(lagging.predict(ROWS).upper, plain.predict(ROWS).upper)
