"""A plain estimator of a library with settings that experience recommends."""

import shutil

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestRegressor

import metaml
from metaml.errors import BadRequest

IRIS = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def kb(shipped_file, tmp_path_factory):
    with metaml.open_kb(shutil.copy(shipped_file, tmp_path_factory.mktemp("kb") / "kb.db")) as base:
        yield base


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "random_forest"])
def test_the_estimator_is_the_librarys_own_and_its_settings_are_not_the_defaults(kb, name):
    estimator = metaml.zero_shot(name, *IRIS, kb=kb)

    assert not type(estimator).__module__.startswith("metaml")
    assert estimator.get_params() != type(estimator)().get_params()
    assert (estimator.fit(*IRIS).predict(IRIS[0]) == IRIS[1]).mean() > 0.9


def test_numbers_get_a_regressor_and_an_array_will_do(kb):
    estimator = metaml.zero_shot("random_forest", *load_diabetes(return_X_y=True), kb=kb, random_state=7)

    assert type(estimator) is RandomForestRegressor
    assert estimator.random_state == 7


def test_without_experience_the_settings_are_defaults_and_a_warning_says_so():
    with pytest.warns(UserWarning, match="knows too little about lightgbm: these are default settings"):
        estimator = metaml.zero_shot("lightgbm", *IRIS, kb=":memory:")

    assert estimator.get_params()["num_leaves"] == 31


def test_what_cannot_be_a_plain_estimator_and_rows_without_a_target_are_refused():
    with pytest.raises(BadRequest, match="no algorithm"):
        metaml.zero_shot("lightgmb", *IRIS, kb=":memory:")
    with pytest.raises(BadRequest, match=r"y has the shape \(3,\), X has 150 rows"):
        metaml.zero_shot("lightgbm", IRIS[0], np.zeros(3), kb=":memory:")


def test_the_experience_that_comes_with_metaml_is_asked_without_making_a_knowledge_base(kb, tmp_path, monkeypatch):
    monkeypatch.delenv("METAML_STARTER", raising=False)

    estimator = metaml.zero_shot("lightgbm", *IRIS, kb=tmp_path / "none.db")

    assert not (tmp_path / "none.db").exists()
    assert estimator.get_params() == metaml.zero_shot("lightgbm", *IRIS, kb=kb).get_params()


def test_settings_are_in_units_of_the_target(kb):
    X, y = load_diabetes(return_X_y=True)

    one, other = (metaml.zero_shot("lightgbm", X, factor * y, kb=kb, task="regression") for factor in (1.0, 1e-4))

    predicted = other.fit(X, 1e-4 * y).predict(X) * 1e4
    assert one.get_params() != other.get_params()
    assert np.corrcoef(one.fit(X, y).predict(X), predicted)[0, 1] > 0.98
