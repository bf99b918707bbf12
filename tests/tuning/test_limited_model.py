"""Limits hold for the saved model; what is impossible is told before the search."""

import pytest

from metaml.data import from_frame
from metaml.errors import BadRequest
from metaml.evaluation.model_limits import ModelLimits
from metaml.sources import builtin
from metaml.tuning.run import tune
from tests.tuning.sessions import raw, settings_of

MIXED = {"algorithms": ("decision_tree", "k_neighbors", "random_forest"), "n_iterations": 4}


@pytest.fixture(scope="module")
def patients():
    """A table that is just large enough to learn how large errors are."""
    return from_frame(raw("diabetes").head(220), target="target")


@pytest.fixture(scope="module")
def free(patients, one_worker):
    """The result of a search without limits."""
    return tune(patients, settings_of(**MIXED), executor=one_worker)


@pytest.fixture(scope="module")
def megabytes(free, tmp_path_factory):
    """How large the file of that search's model is."""
    return free.finished.model.save(tmp_path_factory.mktemp("free")).stat().st_size / 1e6


def test_a_model_that_keeps_the_limits_stays_as_it_is(patients, free, one_worker):
    settings = settings_of(**MIXED, model_limits=ModelLimits(1000.0, 10_000.0, 100.0))

    limited = tune(patients, settings, executor=one_worker)

    assert limited.finished.score == free.finished.score
    assert limited.finished.model.facts["measured"]["n_columns"] == 10
    assert free.finished.measured is None


def test_a_smaller_model_is_made_if_the_first_is_too_large(patients, free, megabytes, one_worker, tmp_path):
    settings = settings_of(**MIXED, model_limits=ModelLimits(megabytes=0.3 * megabytes))

    limited = tune(patients, settings, executor=one_worker, output=tmp_path)

    assert (tmp_path / "model.zip").stat().st_size / 1e6 <= 0.3 * megabytes
    assert limited.finished.kind in ("single", "ensemble")
    assert limited.finished.score <= free.finished.score


def test_a_single_model_stays_single(patients, megabytes, one_worker):
    settings = settings_of(**MIXED, model_limits=ModelLimits(megabytes=0.1 * megabytes))

    limited = tune(patients, settings, executor=one_worker, single=True)

    assert len(limited.finished.model.members) == 1


def test_an_impossible_limit_is_refused_before_the_search(one_worker):
    settings = settings_of(model_limits=ModelLimits(megabytes=1e-5))

    with pytest.raises(BadRequest, match=r"the nearest one has .* MB\. Raise --max-model-mb to"):
        tune(builtin.load("iris"), settings, executor=one_worker)
