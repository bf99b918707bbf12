"""Boosters that run out of time keep their best round."""

from itertools import count

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS, tabular
from metaml.algorithms.allowance import Allowance
from tests.algorithms.test_boosting import BOOSTERS, problem

NAMES = [*BOOSTERS, "mlp"]


def build(name, seconds, **settings):
    space = ALGORITHMS[name].space("binary")
    config = space.complete({**space.default(), **settings})
    return ALGORITHMS[name].build(config, task="binary", seed=0, seconds=seconds)


@pytest.fixture
def each_look_takes_a_second(monkeypatch):
    """A clock that moves on by a second whenever it is read, so that rounds are counted, not timed."""

    def allowance(seconds):
        ticks = count()
        return Allowance(seconds, clock=lambda: float(next(ticks)))

    monkeypatch.setattr(tabular, "Allowance", allowance)


@pytest.mark.parametrize("n_rows", [30, 300])
@pytest.mark.parametrize("name", NAMES)
def test_without_time_there_is_one_round_and_no_refit(name, n_rows):
    X, y = problem(n_rows)

    stopped = build(name, 0.0).fit(X, y)
    not_refitted = build(name, 0.0, refit=True).fit(X, y)

    assert (stopped.rounds_, stopped.stopped_early_) == (1, True)
    assert np.array_equal(not_refitted.predict_proba(X), stopped.predict_proba(X))


@pytest.mark.parametrize("name", NAMES)
def test_the_more_time_the_more_rounds_up_to_those_without_a_limit(name, each_look_takes_a_second):
    X, y = problem(300)
    unlimited = build(name, None, learning_rate=0.03).fit(X, y)

    fitted = [build(name, seconds, learning_rate=0.03).fit(X, y) for seconds in (8.0, 14.0, 10_000.0)]

    assert 1 <= fitted[0].rounds_ <= fitted[1].rounds_ <= fitted[2].rounds_ == unlimited.rounds_
    assert [estimator.stopped_early_ for estimator in fitted] == [True, True, False]
    assert np.array_equal(fitted[2].predict_proba(X), unlimited.predict_proba(X))


def test_a_refit_that_is_not_done_in_time_is_dropped(each_look_takes_a_second):
    X, y = problem(300)
    settings = {"learning_rate": 0.2, "early_stopping_rounds": 5}
    plain = build("xgboost", None, **settings).fit(X, y)
    refitted = build("xgboost", None, **settings, refit=True).fit(X, y)

    seen = set()
    for seconds in range(4, 300, 4):
        estimator = build("xgboost", float(seconds), **settings, refit=True).fit(X, y)
        if not estimator.stopped_early_:
            assert np.array_equal(estimator.predict_proba(X), refitted.predict_proba(X))
            seen.add("refitted")
        elif estimator.rounds_ == plain.rounds_:
            assert np.array_equal(estimator.predict_proba(X), plain.predict_proba(X))
            seen.add("not refitted")

    assert seen == {"refitted", "not refitted"}


def test_dart_may_end_before_the_rounds_its_configuration_names():
    X, y = problem(100)

    estimator = build("xgboost", 0.0, booster="dart", n_rounds=23).fit(X, y)

    assert (estimator.rounds_, estimator.stopped_early_) == (1, True)
