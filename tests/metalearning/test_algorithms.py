"""Which algorithm first, how fast each improves, and how long a run takes."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.bandits import POLICIES
from metaml.metalearning.algorithms import AlgorithmPrior, curves_by_arm
from metaml.metalearning.blend import blended, vote
from metaml.metalearning.landscape import make_landscape
from metaml.metalearning.residual import Residual, slope
from metaml.metalearning.runs import Experience
from metaml.metalearning.runtime import RuntimeLearner
from tests.metalearning.worlds import make_synthetic

SMALL, LARGE = ({"NumberOfInstances": n, "NumberOfFeatures": 6.0, "NumberOfClasses": 2.0} for n in (150.0, 900_000.0))


def good_if(is_good_when_large: bool):
    return lambda rate, n_rows: 0.7 + 0.1 * rate + (0.1 if (n_rows > 10_000) == is_good_when_large else 0.0)


def test_best_algorithm_depends_on_the_data_set():
    experiences = {"big": make_synthetic(16, 12, good_if(True)), "small": make_synthetic(16, 12, good_if(False))}
    prior = AlgorithmPrior().fit(experiences)

    assert prior.expect(LARGE)[0].algorithm == "big"
    assert prior.expect(SMALL)[0].algorithm == "small"


def test_few_data_sets_give_average_ranks():
    experiences = {
        "better": make_synthetic(3, 8, lambda rate, n: 0.9 + 0.01 * rate),
        "worse": make_synthetic(3, 8, lambda rate, n: 0.5 + 0.01 * rate),
    }

    expected = AlgorithmPrior().fit(experiences).expect(SMALL)

    assert [(item.algorithm, item.rank, item.best_rank) for item in expected] == [
        ("better", 1.0, 1.0),
        ("worse", 2.0, 2.0),
    ]


def test_nothing_known_puts_all_algorithms_in_the_middle(synthetic: Experience):
    nothing = synthetic.keep([])

    expected = AlgorithmPrior().fit({"a": nothing, "b": nothing, "c": nothing}).expect({})

    assert [item.best_rank for item in expected] == [2.0, 2.0, 2.0]


def test_curves_never_fall_and_fit_the_bandit_that_reads_them(synthetic: Experience):
    world = synthetic.keep(range(6)).thinned(10)
    curves = curves_by_arm([world, world], [make_landscape(world, n_grid=60)] * 2, n=5)

    arm = POLICIES["curve_thompson"](curves=curves).choose([[0.5], [0.6]], np.random.default_rng(0), rounds_left=5)

    assert [len(own) for own in curves] == [6, 6]
    assert all(len(curve) == 5 and np.all(np.diff(curve) >= 0) for curve in curves[0])
    assert arm in (0, 1)


def with_seconds(experience: Experience, reference: float) -> Experience:
    n_rows = experience.metafeatures["NumberOfInstances"].to_numpy()[experience.groups]
    return replace(experience, seconds=n_rows * 1e-4 * reference, reference=np.full(len(experience.scores), reference))


def test_seconds_grow_with_the_rows_and_with_the_host(synthetic: Experience):
    runtime = RuntimeLearner().fit(with_seconds(synthetic, 0.5))
    config = {"rate": 0.5, "word": "a"}

    small, large = (float(runtime.predict([config], d, reference_seconds=0.5)[0]) for d in (SMALL, LARGE))
    slower = float(runtime.predict([config], LARGE, reference_seconds=1.0)[0])

    assert small < 0.1 < large
    assert slower == pytest.approx(2 * large)


def test_without_seconds_none_are_promised(synthetic: Experience):
    said = RuntimeLearner().fit(synthetic).predict([{"rate": 0.5}], SMALL)

    assert np.isnan(said).all()


def test_vote_hands_over():
    shares = [vote(n) for n in (0, 5, 10, 50)]

    assert shares == sorted(shares, reverse=True)
    assert vote(10) == 0.5


def test_meta_learner_that_is_not_trusted_has_no_vote():
    said, acquired = np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 0.0])

    assert blended(said, acquired, 5, is_trusted=False).argmax() == 0
    assert blended(said, acquired, 0).argmax() == 2


def test_slope_by_hand():
    # Least squares of y = 2x is 2; three runs' worth of belief in a unit of 1 pulls it to (2 · 2 + 3 · 1) / (2 + 3).
    assert slope(np.array([-1.0, 1.0]), np.array([-2.0, 2.0]), unit=1.0) == pytest.approx(7 / 5)


def test_residual_follows_the_meta_learner_where_nothing_is_known():
    surrogate = Residual(lambda X: X[:, 0], unit=0.1)
    X = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])

    surrogate.fit(X, 0.5 + 0.1 * X[:, 0])

    assert surrogate.predict(np.array([[3.0, 0.0]])).mean[0] == pytest.approx(0.8, abs=0.01)


def test_residual_ignores_a_meta_learner_that_is_wrong():
    x = np.linspace(-1, 1, 20)
    surrogate = Residual(lambda X: X[:, 0], unit=0.1).fit(x[:, np.newaxis], -x)

    assert surrogate.slope_ == 0.0
