"""LightGBM models as compact text predict the same up to the digits written."""

import lightgbm
import numpy as np
import pytest

from metaml.metalearning.booster_text import compact_text


@pytest.fixture(scope="module")
def model() -> tuple[lightgbm.Booster, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nansum(X[:, :2], axis=1) + rng.normal(size=400)
    settings = {"num_leaves": 8, "verbosity": -1, "seed": 0, "num_threads": 1}
    return lightgbm.train(settings, lightgbm.Dataset(X, y), num_boost_round=20), X


def test_compact_text_is_much_shorter_and_predicts_and_explains_the_same(model):
    booster, X = model

    text = compact_text(booster)
    read = lightgbm.Booster(model_str=text)

    assert len(text) < len(booster.model_to_string()) * 0.6
    np.testing.assert_allclose(read.predict(X), booster.predict(X), atol=1e-5)
    np.testing.assert_allclose(read.predict(X, pred_contrib=True), booster.predict(X, pred_contrib=True), atol=1e-5)
    np.testing.assert_allclose(read.feature_importance("gain"), booster.feature_importance("gain"), rtol=0.01)


def test_text_of_a_model_that_was_read_is_unchanged(model):
    text = compact_text(model[0])

    assert compact_text(lightgbm.Booster(model_str=text)) == text
