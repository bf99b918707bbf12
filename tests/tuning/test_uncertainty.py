"""The final model knows its errors, whatever it is made of, and expects larger ones where they are larger."""

import numpy as np
import pandas as pd
import pytest

from metaml.data import ColumnOptions, from_frame
from metaml.sources import builtin
from metaml.splits import make_plan
from metaml.tuning.run import tune
from metaml.tuning.uncertainty import N_SCALES, scale_plans
from tests.tuning.sessions import settings_of


def noisy(n, seed=0):
    rng = np.random.default_rng(seed)
    columns = rng.uniform(-1, 1, size=(n, 2))
    y = columns[:, 0] + rng.normal(size=n) * np.where(columns[:, 1] > 0, 1.0, 0.05)
    return pd.DataFrame(columns, columns=["a", "b"]).assign(y=y)


@pytest.mark.parametrize("changes", [{}, {"refits": True}, {"n_folds": 1}])
def test_every_kind_of_model_knows_its_errors(one_worker, changes):
    model = tune(builtin.load("diabetes"), settings_of(n_iterations=2, **changes), executor=one_worker).finished.model

    n_tested = 89 if changes.get("n_folds") == 1 else 442
    assert len(model.uncertainty.errors) == n_tested
    found = model.predict_interval(builtin.load("diabetes").X, 0.9)
    assert (found["low"] < found["high"]).all()


def test_intervals_are_wider_where_errors_are_larger_and_hold_as_many_values_as_asked(one_worker):
    settings = settings_of(n_iterations=1, algorithms=("k_neighbors",))
    model = tune(from_frame(noisy(900), target="y"), settings, executor=one_worker).finished.model
    new = noisy(2000, seed=1)

    found = model.predict_interval(new, 0.9)

    width = found["high"] - found["low"]
    assert width[new["b"] > 0.1].mean() > 3 * width[new["b"] < -0.1].mean()
    assert np.mean((found["low"] <= new["y"]) & (new["y"] <= found["high"])) == pytest.approx(0.9, abs=0.03)


def test_sets_of_labels_hold_as_many_as_asked(iris, one_worker):
    model = tune(iris, settings_of(n_iterations=2), executor=one_worker).finished.model

    sets = model.predict_interval(iris.X.set_axis(iris.schema.columns, axis=1), 0.9)["set"]

    truth = np.asarray(iris.labels)[iris.y]
    assert np.mean([label in found for label, found in zip(truth, sets, strict=True)]) >= 0.9


def test_a_fallback_knows_nothing_of_its_errors(iris, one_worker):
    from metaml.budget import Budget

    finished = tune(
        iris, settings_of(seconds=0.01, n_iterations=None), executor=one_worker, budget=Budget(0.01)
    ).finished

    assert (finished.kind, finished.model.uncertainty) == ("fallback", None)


def test_the_size_of_errors_is_learnt_on_several_folds_that_keep_groups_together():
    groups = np.repeat(np.arange(60), 5)
    frame = noisy(300).assign(person=groups)
    dataset = from_frame(frame, target="y", options=ColumnOptions(group="person"))

    plans = scale_plans(dataset, np.arange(300), make_plan(dataset, 5))

    assert len({plan.hash for plan in plans}) == N_SCALES
    for plan in plans:
        assert all(len(set(plan.assignment[groups == group])) == 1 for group in range(60))


def test_the_unit_of_new_rows_is_the_mean_of_all_estimators_of_the_size_of_errors(one_worker):
    settings = settings_of(n_iterations=1, algorithms=("k_neighbors",))

    model = tune(from_frame(noisy(600), target="y"), settings, executor=one_worker).finished.model

    assert len(model.uncertainty.scales) == N_SCALES * settings.n_folds
