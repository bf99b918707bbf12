"""CatBoost: its space can be read without the library, which is an optional extra."""

import numpy as np
import pandas as pd
import pytest

from metaml.algorithms import catboost
from metaml.errors import BadConfig


@pytest.mark.parametrize(
    ("task", "own", "not_own"),
    [("binary", "class_weight", "loss_function"), ("regression", "loss_function", "class_weight")],
)
def test_a_task_has_the_parameters_that_mean_something_for_it(task, own, not_own):
    default = catboost.space(task).default()

    assert own in default
    assert not_own not in default


def test_a_configuration_outside_the_space_is_refused_before_the_library_is_needed():
    with pytest.raises(BadConfig, match="depth"):
        catboost.build({**catboost.space("binary").default(), "depth": 99}, task="binary", seed=0)


def test_the_extra_is_named_by_the_library_that_brings_it():
    assert catboost.ALGORITHM.library == "catboost"
    assert {saved.place.partition(":")[0] for saved in catboost.ALGORITHM.saves} == {
        "metaml.algorithms.catboost",
        "catboost",
    }


def test_categories_that_training_never_saw_are_answered():
    pytest.importorskip("catboost")
    X = pd.DataFrame({"colour": pd.Categorical(["red", "blue"] * 40), "a": np.arange(80.0)})
    estimator = catboost.build(catboost.space("binary").default(), task="binary", seed=0)

    estimator.fit(X, np.arange(80) % 2)
    new = pd.DataFrame({"colour": pd.Categorical(["green", "red"]), "a": [1.0, 2.0]})

    assert estimator.predict_proba(new).sum(axis=1) == pytest.approx([1.0, 1.0])


def test_a_model_that_fails_in_its_trial_is_refused(monkeypatch):
    library = pytest.importorskip("catboost")
    fitted = library.CatBoostRegressor(iterations=2, verbose=False, allow_writing_files=False)
    fitted.fit(np.arange(40.0).reshape(20, 2), np.arange(20.0))
    trusted = next(one for one in catboost.ALGORITHM.saves if one.name == "CatBoostRegressor")
    tried = []
    monkeypatch.setattr(catboost, "survives", lambda place, content: tried.append((place, content)))

    with pytest.raises(ValueError, match="CatBoost cannot read its model"):
        trusted.restored(trusted.state_of(fitted))

    assert tried == [("metaml.algorithms.catboost:try_regressor", bytes(fitted._serialize_model()))]
