"""Which setups mean the same here, and how they read."""

from dataclasses import replace
from typing import Any

import pytest

from metaml.algorithms import ALGORITHMS
from metaml.data import from_frame
from metaml.openml_runs.flows import DatasetShape, shape_of, translate
from metaml.openml_runs.setups import Setup
from metaml.sources import builtin

PLAIN = DatasetShape("binary", width=20, spread=0.9, most_levels=4, lacks_numbers=False, lacks_categories=False)
FOREST: dict[str, Any] = {
    "n_estimators": 100,
    "criterion": "entropy",
    "max_features": 0.25,
    "min_samples_leaf": 2,
    "min_samples_split": 3,
    "bootstrap": False,
    "max_depth": None,
}
BOOST: dict[str, Any] = {"algorithm": "SAMME", "learning_rate": 1, "n_estimators": 50}
MACHINE: dict[str, Any] = {
    **{"kernel": "rbf", "C": 2.0, "gamma": 0.1, "coef0": 0.5, "degree": 3, "shrinking": True, "tol": 0.001},
    **{"max_iter": -1, "class_weight": None},
}


def forest(**changes: Any) -> Setup:
    return Setup(6969, {}, {"RandomForestClassifier": FOREST | changes, "ConditionalImputer": {"strategy": "mean"}})


def boost(strategy: str = "mean", **changes: Any) -> Setup:
    tree = {"max_depth": 3, "max_features": None}
    parts = {"AdaBoostClassifier": BOOST | changes, "DecisionTreeClassifier": tree}
    return Setup(6970, {}, {**parts, "ConditionalImputer": {"strategy": strategy}})


def machine(**changes: Any) -> Setup:
    parts = {"SVC": MACHINE | changes, "StandardScaler": {}, "Imputer": {"strategy": "median"}}
    return Setup(8317, {}, {**parts, "ColumnTransformer": {}})


def test_a_forest_reads_in_our_words() -> None:
    translated = translate(forest(), PLAIN)

    assert translated.algorithm == "random_forest"
    assert translated.reason is None
    assert translated.config == {
        **{"n_estimators": 100, "criterion": "entropy", "min_samples_leaf": 2, "min_samples_split": 3},
        **{"bootstrap": False, "class_weight": None, "encoding": "one_hot", "max_levels": 16},
        "max_features": pytest.approx(0.537244),
    }
    assert round(20 ** float(translated.config["max_features"] or 0)) == 5


def test_boosting_reads_in_our_words() -> None:
    translated = translate(boost("median"), replace(PLAIN, lacks_numbers=True))

    assert translated.algorithm == "adaboost"
    assert translated.config["imputation"] == "median"
    assert translated.config["learning_rate"] == 1.0
    assert translated.config["max_features"] == 1.0


def test_gamma_is_counted_in_our_unit_and_only_what_the_kernel_needs_is_there() -> None:
    config = translate(machine(), PLAIN).config

    assert config["gamma"] == pytest.approx(0.1 * 20 * 0.9)
    assert not {"coef0", "degree"} & set(config)
    assert {"coef0", "degree"} < set(translate(machine(kernel="poly"), PLAIN).config)


@pytest.mark.parametrize(
    ("setup", "shape", "reason"),
    [
        (forest(), replace(PLAIN, lacks_numbers=True), "cells are missing, which ours does not impute"),
        (forest(max_depth=3), PLAIN, "max_depth is 3, which ours cannot be"),
        (forest(n_estimators=5000), PLAIN, "it lies outside our space"),
        (forest(), replace(PLAIN, most_levels=100), "a category has more than 64 levels"),
        (forest(), None, "the data set is not known"),
        (Setup(6969, {}, {"RandomForestClassifier": {}}), PLAIN, "n_estimators is not recorded"),
        (boost(algorithm="SAMME.R"), PLAIN, "SAMME.R is gone from scikit-learn"),
        (boost("most_frequent"), replace(PLAIN, lacks_numbers=True), "missing numbers are replaced by most_frequent"),
        (machine(coef0=-0.5, kernel="sigmoid"), PLAIN, "it lies outside our space"),
        (Setup(8317, {}, {"SVC": MACHINE, "StandardScaler": {}}), PLAIN, "one-hot columns are scaled there"),
        (Setup(6767, {"nrounds": 10}, {}), PLAIN, "the flow has no counterpart here"),
    ],
)
def test_what_differs_keeps_its_own_name_with_the_reason(setup: Setup, shape: DatasetShape | None, reason: str) -> None:
    translated = translate(setup, shape)

    assert translated.algorithm == f"openml.flow.{setup.flow}"
    assert translated.config == setup.flat()
    assert translated.reason is not None
    assert reason in translated.reason


def test_a_translated_machine_has_the_gamma_it_came_with() -> None:
    dataset = builtin.load("wine")
    config = translate(machine(gamma=0.07), shape_of(dataset)).config

    model = ALGORITHMS["svm"].build(config, task="multiclass", seed=0).fit(dataset.X, dataset.y)

    assert model.model_.machine_.gamma == pytest.approx(0.07, rel=1e-6)


def test_the_shape_counts_encoded_columns() -> None:
    frame = builtin.load("iris").X.assign(colour=["red", "green", "blue"] * 50, kind=["a", "b"] * 75)

    shape = shape_of(from_frame(frame, target="kind"))

    assert (shape.width, shape.most_levels, shape.lacks_numbers) == (7, 3, False)
