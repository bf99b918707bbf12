"""What every registered algorithm promises, for every task, whatever its configuration and however odd the data."""

import json
import pickle
import subprocess
import sys
from functools import cache
from importlib.metadata import metadata, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from metaml.algorithms import ALGORITHMS, KNOWN
from metaml.algorithms.trusted_classes import SHARED
from metaml.data import TASKS, ColumnOptions, from_frame
from metaml.errors import BadConfig
from metaml.model.freezing import Freezer

PAIRS = [
    pytest.param(ALGORITHMS[name], task, id=f"{name}-{task}") for name in ALGORITHMS for task in ALGORITHMS[name].tasks
]
every_algorithm_and_task = pytest.mark.parametrize(("algorithm", "task"), PAIRS)

TWO_WAYS = ("binary", "regression")
"""The tasks whose prediction can rise and fall."""

FIRST_FITS = Path(__file__).with_name("first_fits.py")

CANNOT_STOP = {("elastic_net", "regression"), *(("k_neighbors", task) for task in TASKS)}
"""Quick ones, whose defaults are solved at once; they take the same model whatever the time."""


def categories(rng, n, n_levels):
    return pd.Categorical([f"level {i}" for i in rng.integers(n_levels, size=n)])


def awkward(rng, n):
    """Data sets that break naive pipelines, by name."""
    missing = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(3)})
    missing["kind"] = categories(rng, n, 4)
    missing = missing.mask(rng.random(missing.shape) < 0.3)
    missing["nothing"] = np.nan
    return {
        "one feature": pd.DataFrame({"x": rng.normal(size=n)}),
        "60 levels": pd.DataFrame({"x": rng.normal(size=n), "kind": categories(rng, n, 60)}),
        "all categorical": pd.DataFrame({c: categories(rng, n, k) for c, k in (("a", 2), ("b", 3), ("c", 7))}),
        "30 % missing": missing,
        "huge and constant": pd.DataFrame({"huge": rng.choice([1e308, -1e308, 1.0], n), "same": np.ones(n)}),
    }


def target(rng, n, task):
    if task == "regression":
        return rng.normal(size=n) * 1e4
    return rng.permutation(np.arange(n) % (2 if task == "binary" else 3))


def cheap(config):
    """The same configuration, but small and impatient: a contract is about all other settings."""
    limits = {"n_estimators": 12, "early_stopping_rounds": 5, "width": 32}
    config = config | {name: min(config[name], limit) for name, limit in limits.items() if name in config}
    # A network needs many passes if its steps are small.
    return config | ({"learning_rate": max(config["learning_rate"], 0.002)} if "batch_size" in config else {})


def answers(estimator, X, task):
    return estimator.predict(X) if task == "regression" else estimator.predict_proba(X)


@cache
def fitted(name, task):
    """Rows with gaps, their target, and models of the default and of drawn configurations, which nobody changes."""
    rng, algorithm = np.random.default_rng(5), ALGORITHMS[name]
    X, y = awkward(rng, 72)["30 % missing"], target(rng, 72, task)
    configs = [algorithm.space(task).default(), *algorithm.space(task).sample(3, rng)]
    return X, y, [algorithm.build(cheap(config), task=task, seed=3).fit(X, y) for config in configs]


@every_algorithm_and_task
def test_values_that_must_be_named_fit_and_predict(algorithm, task):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"x": rng.normal(size=60), "town": categories(rng, 60, 40)})
    y = target(rng, 60, task)
    unasked = [(p.name, value) for p in algorithm.space(task).parameters for value in getattr(p, "unasked", ())]

    for name, value in unasked:
        config = algorithm.space(task).complete({**algorithm.space(task).default(), name: value})
        estimator = algorithm.build(cheap(config), task=task, seed=0).fit(X[:40], y[:40])

        assert np.isfinite(answers(estimator, X[40:], task)).all()


@every_algorithm_and_task
def test_twenty_configurations_fit_and_predict_awkward_data(algorithm, task, capfd):
    rng = np.random.default_rng(2018)
    sets = awkward(rng, 72)
    y = target(rng, 72, task)
    space = algorithm.space(task)
    configs = [space.default(), *space.sample(20, rng)]

    for i, config in enumerate(configs):
        space.check(config)
        assert json.loads(json.dumps(config)) == config
        X, labels = list(sets.values())[i % 5], y
        if i % 6 == 5:  # classes of five members, or fifteen rows
            X, labels = X[:15], np.arange(15) % 3 if task == "multiclass" else y[:15]
        train = slice(0, len(X) - 12) if len(X) > 15 else slice(None)

        estimator = algorithm.build(cheap(config), task=task, seed=i)
        estimator.fit(X[train], labels[train])
        predicted = answers(estimator, X[-12:], task)

        assert np.isfinite(predicted).all()
        if task == "regression":
            assert predicted.shape == (12,)
        else:
            assert predicted.shape == (12, len(np.unique(labels[train])))
            assert predicted.sum(axis=1) == pytest.approx(np.ones(12))
            assert set(estimator.predict(X[-12:])) <= set(estimator.classes_)
    assert capfd.readouterr() == ("", "")


@every_algorithm_and_task
def test_the_same_seed_gives_the_same_predictions(algorithm, task):
    X, y, models = fitted(algorithm.name, task)

    for first in models[:3]:
        second = clone(first).fit(X, y)

        assert np.array_equal(answers(first, X, task), answers(second, X, task))


@every_algorithm_and_task
def test_the_default_learns_an_easy_problem(algorithm, task):
    rng = np.random.default_rng(0)
    shape = pd.Categorical(rng.choice(["round", "square", "long"], 150))
    X = pd.DataFrame({"shape": shape, "size": rng.normal(size=150), "noise": rng.normal(size=150)})
    signal = X["size"].to_numpy() + 2.0 * (shape == "round")
    y = signal if task == "regression" else np.digitize(signal, [0.5] if task == "binary" else [0.0, 1.5])

    estimator = algorithm.build(algorithm.space(task).default(), task=task, seed=0).fit(X[:100], y[:100])

    assert estimator.score(X[100:], y[100:]) > 0.7


@every_algorithm_and_task
def test_a_fit_that_runs_out_of_time_still_gives_a_model(algorithm, task):
    rng = np.random.default_rng(7)
    X = awkward(rng, 600)["30 % missing"].assign(kind=categories(rng, 600, 4))
    signal = np.nan_to_num(X["x0"].to_numpy()) + rng.normal(size=600)
    y = signal if task == "regression" else np.digitize(signal, [0.0] if task == "binary" else [-0.5, 0.5])
    config = cheap(algorithm.space(task).default())

    unlimited = algorithm.build(config, task=task, seed=1).fit(X, y)
    in_time = algorithm.build(config, task=task, seed=1, seconds=3600.0).fit(X, y)
    stopped = algorithm.build(config, task=task, seed=1, seconds=0.0).fit(X, y)

    assert (unlimited.stopped_early_, in_time.stopped_early_) == (False, False)
    assert np.array_equal(answers(in_time, X, task), answers(unlimited, X, task))
    is_same = np.array_equal(answers(stopped, X, task), answers(unlimited, X, task))
    assert stopped.stopped_early_ is not is_same
    assert stopped.stopped_early_ or (algorithm.name, task) in CANNOT_STOP
    assert np.isfinite(answers(stopped, X, task)).all()
    if task != "regression":
        assert answers(stopped, X, task).shape == (600, len(np.unique(y)))


@every_algorithm_and_task
def test_a_saved_estimator_predicts_the_same_and_stands_levels_it_never_saw(algorithm, task):
    X, _, (estimator, *_) = fitted(algorithm.name, task)
    new = X[:6].assign(kind=pd.Categorical(["aaa", "level 1", None, "zzz", "level 0", "level 3"]))

    loaded = pickle.loads(pickle.dumps(estimator))

    assert np.isfinite(answers(estimator, new, task)).all()
    assert np.array_equal(answers(loaded, new, task), answers(estimator, new, task))


@every_algorithm_and_task
def test_training_rows_without_contrast_are_answered_with_what_they_say(algorithm, task):
    X = pd.DataFrame({"x": np.arange(60.0)})
    config = cheap(algorithm.space(task).default())

    constant = algorithm.build(config, task=task, seed=0).fit(X, np.full(60, 2))
    assert set(constant.predict(X)) == {2}

    if task == "multiclass":
        lacking = algorithm.build(config, task=task, seed=0).fit(X, np.repeat([0, 2], 30))
        assert lacking.classes_.tolist() == [0, 2]
        assert set(lacking.predict(X)) == {0, 2}


@every_algorithm_and_task
def test_a_configuration_outside_the_space_is_refused(algorithm, task):
    with pytest.raises(BadConfig, match="nonsense"):
        algorithm.build({**algorithm.space(task).default(), "nonsense": 1}, task=task, seed=0)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_it_has_the_name_it_is_registered_by_and_its_library_is_installed(name):
    assert ALGORITHMS[name].name == name
    assert version(ALGORITHMS[name].library)


def test_after_its_modules_are_imported_building_and_fitting_import_nothing_more_of_a_learning_library():
    answer = subprocess.run([sys.executable, FIRST_FITS], capture_output=True, text=True, check=True)

    # A line has a name, and after it what was imported; an algorithm that fails has no line.
    assert sorted(answer.stdout.splitlines()) == sorted(ALGORITHMS), answer.stderr


def test_an_algorithm_whose_library_is_not_installed_is_not_listed():
    missing = {one.name for one in KNOWN if not all(find_spec(name.partition(".")[0]) for name in one.modules)}

    assert {algorithm.name for algorithm in KNOWN} - set(ALGORITHMS) == missing


def test_an_algorithm_whose_library_is_an_extra_has_an_extra_of_its_name():
    extras = metadata("metaml").get_all("Provides-Extra")

    assert {algorithm.name for algorithm in KNOWN if algorithm.is_extra} <= set(extras)


@pytest.mark.parametrize("turn", ["first_turn", "first_turn_if_wide", "first_turn_if_slow"])
def test_no_two_algorithms_have_the_same_turn_and_the_turns_leave_no_gap(turn):
    turns = [getattr(algorithm, turn) for algorithm in KNOWN]

    taken = sorted(place for place in turns if place is not None)

    assert taken == list(range(1, len(taken) + 1))


def classes_in(plain):
    """The names of all classes in what a model file holds."""
    if isinstance(plain, list):
        return {name for part in plain for name in classes_in(part)}
    if isinstance(plain, dict):
        own = {plain["object"]} if set(plain) == {"object", "state"} else set()
        return own | {name for part in plain.values() for name in classes_in(part)}
    return set()


@every_algorithm_and_task
def test_a_saved_model_holds_only_classes_that_the_algorithm_names_or_all_share(algorithm, task):
    _, _, models = fitted(algorithm.name, task)
    allowed = {recipe.name for recipe in (*SHARED, *algorithm.saves)}

    for estimator in models:
        assert classes_in(Freezer().freeze(estimator)) <= allowed


def test_a_name_in_model_files_means_the_same_class_for_all_algorithms():
    recipes = [*SHARED, *(recipe for algorithm in KNOWN for recipe in algorithm.saves)]

    assert len({recipe.name for recipe in recipes}) == len(set(recipes)) == len({recipe.place for recipe in recipes})


def small(algorithm, task):
    """A configuration that is deterministic given the rows, and looks at weights alone where it could count rows."""
    plain = {
        "min_samples_leaf": 1,
        "min_samples_split": 2,
        "bootstrap": False,
        "min_data_in_leaf": 1,
        "encoding": "one_hot",
        "max_features": 1.0,
        "n_estimators": 12,
        "tol": 1e-5,
        "subsample": 1.0,
        "colsample_bytree": 1.0,
    }
    config = algorithm.space(task).default()
    config |= {name: value for name, value in plain.items() if name in config}
    config.pop("max_samples", None)
    return config | ({"max_levels": 16} if "encoding" in config else {})


EXACT = {
    **dict.fromkeys(("decision_tree", "random_forest", "extra_trees", "gradient_boosting", "xgboost"), TASKS),
    "adaboost": ("binary", "multiclass"),
    "elastic_net": TASKS,
    "svm": ("regression",),
}
"""Where weight 2 is exactly a doubled row. Others draw rows, hold some out, or make bins by the number of rows."""


def weighted_rows(task, n=22):
    rng = np.random.default_rng(11)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "kind": categories(rng, n, 3)})
    X.loc[::9, "b"] = np.nan
    signal = X["a"].to_numpy() + 1.5 * (X["kind"] == "level 1") + 0.3 * rng.normal(size=n)
    y = signal if task == "regression" else np.digitize(signal, [0.5] if task == "binary" else [0.0, 1.0])
    return X, y, rng.integers(1, 4, size=n).astype(float)


@every_algorithm_and_task
def test_a_row_of_weight_two_is_learnt_as_two_rows(algorithm, task):
    if task not in EXACT.get(algorithm.name, ()):
        return
    X, y, weight = weighted_rows(task)
    again = np.repeat(np.arange(len(y)), weight.astype(int))
    config = small(algorithm, task)
    configs = [config, config | {"class_weight": "balanced"}] if "class_weight" in config else [config]

    for config in configs:
        once = algorithm.build(config, task=task, seed=1).fit(X, y, sample_weight=weight)
        twice = algorithm.build(config, task=task, seed=1).fit(X.iloc[again].reset_index(drop=True), y[again])

        assert answers(once, X, task) == pytest.approx(answers(twice, X, task), abs=2e-3)


@every_algorithm_and_task
def test_weights_are_learnt_from_and_rows_of_weight_zero_do_not_matter(algorithm, task):
    X, y, weight = weighted_rows(task, n=70)
    weight[y > np.median(y)] *= 20
    weight[::6] = 0.0
    used = weight > 0
    strange = X.assign(a=X["a"].where(used, 1e9))

    def build():
        return algorithm.build(cheap(algorithm.space(task).default()), task=task, seed=1)

    if not algorithm.takes_weights:
        with pytest.raises(TypeError, match="sample_weight"):
            build().fit(X, y, sample_weight=weight)
        return

    without = build().fit(X[used].reset_index(drop=True), y[used], sample_weight=weight[used])
    with_zeros = build().fit(strange, y, sample_weight=weight)
    unweighted = build().fit(X[used].reset_index(drop=True), y[used])

    assert np.array_equal(answers(with_zeros, X, task), answers(without, X, task))
    assert answers(without, X, task).mean(axis=0) != pytest.approx(answers(unweighted, X, task).mean(axis=0), abs=1e-3)


ONE_WAY = [
    pytest.param(found, task, id=f"{name}-{task}")
    for name, found in ALGORITHMS.items()
    for task in TWO_WAYS
    if task in found.tasks
]


def one_way_data(task, n=200):
    """Rows whose target mostly rises with x and falls with z, with parts and noise that go the other way."""
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=n), rng.normal(size=n)
    y = np.sin(2 * x) + x - z + rng.normal(size=n) * (1 + np.cos(3 * z) ** 2)
    X = pd.DataFrame({"x": x, "kind": categories(rng, n, 5), "z": z, "other": rng.normal(size=n)})
    X.loc[::9, ["x", "other"]] = np.nan
    frame = X.assign(y=y if task == "regression" else (y > 0).astype(int))
    return from_frame(frame, "y", options=ColumnOptions(increasing=("x",), decreasing=("z",)))


@pytest.mark.parametrize(("algorithm", "task"), ONE_WAY)
def test_a_prediction_only_rises_and_falls_with_the_columns_it_may(algorithm, task):
    dataset = one_way_data(task)
    rng = np.random.default_rng(1)
    space = algorithm.space(task)
    configs = [space.default(), *space.sample(2, rng)]
    if algorithm.one_way is None:
        with pytest.raises(BadConfig, match="cannot keep"):
            algorithm.unfitted(configs[0], dataset, seed=0)
        return
    allowed = algorithm.one_way
    kept = [
        {name: value if value in allowed.get(name, (value,)) else allowed[name][0] for name, value in config.items()}
        for config in configs
    ]
    kept = [space.complete(config) for config in kept]
    grid = np.linspace(-3, 3, 61)

    for config in kept:
        estimator = algorithm.unfitted(cheap(config), dataset, seed=2).fit(dataset.X, dataset.y)
        for column, direction in (("x", 1), ("z", -1)):
            rows = dataset.X.iloc[:12]
            swept = pd.concat([rows.assign(**{column: value}) for value in grid], ignore_index=True)
            predicted = answers(estimator, swept, task).reshape(len(grid), 12, -1)[:, :, -1]

            assert (direction * np.diff(predicted, axis=0) >= 0).all(), config
            assert np.ptp(predicted) > 0 or config != kept[0]


@pytest.mark.parametrize("task", TWO_WAYS)
def test_settings_that_cannot_keep_a_direction_are_refused(task):
    dataset = one_way_data(task)
    refused = {"gblinear": "xgboost", "absolute_error": "gradient_boosting", "regression_l1": "lightgbm"}

    for value, name in refused.items():
        space = ALGORITHMS[name].space(task)
        setting = next((p.name for p in space.parameters if value in getattr(p, "choices", ())), None)
        if setting is not None:
            with pytest.raises(BadConfig, match=f"With {setting} '{value}', {name} cannot keep"):
                ALGORITHMS[name].unfitted(space.complete({setting: value}), dataset, seed=0)
