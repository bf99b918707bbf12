"""Limits hold for the saved model; what is impossible is told before the search."""

import pytest

from metaml.errors import BadRequest
from metaml.evaluation.model_limits import ModelLimits
from metaml.model import load
from metaml.model.measuring import measure
from metaml.sources import builtin
from metaml.tuning.run import tune
from tests.tuning.sessions import settings_of

MIXED = ("decision_tree", "k_neighbors", "random_forest")


@pytest.fixture(scope="module")
def free(one_worker):
    """The result of a search without limits."""
    return tune(builtin.load("diabetes"), settings_of(algorithms=MIXED, n_iterations=7), executor=one_worker)


def test_a_model_that_keeps_the_limits_stays_as_it_is(free, one_worker):
    settings = settings_of(algorithms=MIXED, n_iterations=7, model_limits=ModelLimits(1000.0, 10_000.0, 100.0))

    limited = tune(builtin.load("diabetes"), settings, executor=one_worker)

    assert limited.finished.score == free.finished.score
    assert limited.finished.model.facts["measured"]["n_columns"] == 10
    assert free.finished.measured is None


def test_a_smaller_model_is_made_if_the_first_is_too_large(free, one_worker, tmp_path):
    dataset = builtin.load("diabetes")
    whole = measure(free.finished.model, dataset).megabytes
    limits = ModelLimits(megabytes=0.3 * whole)

    limited = tune(
        dataset,
        settings_of(algorithms=MIXED, n_iterations=7, model_limits=limits),
        executor=one_worker,
        output=tmp_path,
    )

    assert measure(load(tmp_path), dataset).megabytes <= 0.3 * whole
    assert limited.finished.kind in ("single", "ensemble")
    assert limited.finished.score <= free.finished.score


def test_a_single_model_stays_single(one_worker, free):
    whole = measure(free.finished.model, builtin.load("diabetes")).megabytes
    settings = settings_of(algorithms=MIXED, n_iterations=7, model_limits=ModelLimits(megabytes=0.1 * whole))

    limited = tune(builtin.load("diabetes"), settings, executor=one_worker, single=True)

    assert len(limited.finished.model.members) == 1


def test_an_impossible_limit_is_refused_before_the_search(one_worker):
    settings = settings_of(model_limits=ModelLimits(megabytes=1e-5))

    with pytest.raises(BadRequest, match=r"the nearest one has .* MB\. Raise --max-model-mb to"):
        tune(builtin.load("iris"), settings, executor=one_worker)
