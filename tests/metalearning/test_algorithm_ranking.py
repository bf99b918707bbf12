"""The ranking of algorithms, their improvement curves, and predicted run times."""

from dataclasses import replace

import numpy as np
import pytest

from metaml.bandits import POLICIES
from metaml.metalearning.algorithm_ranking import AlgorithmPrior, curves_by_arm
from metaml.metalearning.history import RunHistory
from metaml.metalearning.landscape import make_landscape
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


def test_nothing_known_puts_all_algorithms_in_the_middle(synthetic: RunHistory):
    nothing = synthetic.keep([])

    expected = AlgorithmPrior().fit({"a": nothing, "b": nothing, "c": nothing}).expect({})

    assert [item.best_rank for item in expected] == [2.0, 2.0, 2.0]


def test_curves_never_fall_and_fit_the_bandit_that_reads_them(synthetic: RunHistory):
    world = synthetic.keep(range(6)).thinned(10)
    curves = curves_by_arm([world, world], [make_landscape(world, n_grid=60)] * 2, n=5)

    arm = POLICIES["curve_thompson"](curves=curves).choose([[0.5], [0.6]], np.random.default_rng(0), rounds_left=5)

    assert [len(own) for own in curves] == [6, 6]
    assert all(len(curve) == 5 and np.all(np.diff(curve) >= 0) for curve in curves[0])
    assert arm in (0, 1)


def with_seconds(history: RunHistory, reference: float) -> RunHistory:
    n_rows = history.metafeatures["NumberOfInstances"].to_numpy()[history.groups]
    return replace(history, seconds=n_rows * 1e-4 * reference, reference=np.full(len(history.scores), reference))


def test_seconds_grow_with_the_rows_and_with_the_host(synthetic: RunHistory):
    runtime = RuntimeLearner().fit(with_seconds(synthetic, 0.5))
    config = {"rate": 0.5, "word": "a"}

    small, large = (float(runtime.predict([config], d, reference_seconds=0.5)[0]) for d in (SMALL, LARGE))
    slower = float(runtime.predict([config], LARGE, reference_seconds=1.0)[0])

    assert small < 0.1 < large
    assert slower == pytest.approx(2 * large)


def test_without_recorded_seconds_none_are_predicted(synthetic: RunHistory):
    predicted = RuntimeLearner().fit(synthetic).predict([{"rate": 0.5}], SMALL)

    assert np.isnan(predicted).all()
