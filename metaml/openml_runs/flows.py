"""Which OpenML flows are the same as one of our algorithms, and how their parameters translate.

A flow is mapped only if the run would have given the same result here, up to chance:

- 6969, 8315 (scikit-learn's random forest): `random_forest`, if no cell is missing, as ours takes missing numbers as
  they are where theirs imputes, and the trees have no limit that ours do not have.
- 6970 (scikit-learn's AdaBoost): `adaboost`, if it is SAMME (SAMME.R is gone from scikit-learn), the trees are limited
  in depth only, and missing numbers are replaced by mean or median.
- 8317 (libsvm in scikit-learn): `svm`, if numbers are standardised and one-hot columns are not, as here; missing
  numbers as above.
- 6767 (mlr's xgboost): never. There the number of rounds is a parameter; ours stops early.
- 6794 (mlr's ranger): never. Without replacement it draws a part of the rows, which ours cannot; it splits categories
  by their order; whether trees vote or average is not recorded.

All of them one-hot encode categories, so a category with more levels than our largest `max_levels` is not mapped, and
neither is a missing category. Shares of columns become powers, and `gamma` is converted to our unit; both use the
number of columns after encoding. A setup that is not mapped, or lies outside our space, is kept as
`openml.flow.NUMBER` with the flow's own parameters.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaml.algorithms import ALGORITHMS
from metaml.algorithms.preprocessing import Head
from metaml.data import Dataset, Task
from metaml.errors import BadConfig
from metaml.openml_runs.setups import Setup
from metaml.spaces.config import Config, Value

MOST_LEVELS = 64
USUAL_LEVELS = 16
_TREE_LIMITS: Mapping[str, Value] = {
    "max_depth": None,
    "max_leaf_nodes": None,
    "min_weight_fraction_leaf": 0.0,
    "min_impurity_decrease": 0.0,
    "max_samples": None,
    "ccp_alpha": 0.0,
    "class_weight": None,
}


class NotTheSame(Exception):
    """Why a setup has no counterpart among our configurations."""


@dataclass(frozen=True)
class DatasetShape:
    """What the translation needs to know of a data set.

    `width` is the number of columns after encoding. `spread` is the variance of all cells after scaling and encoding.
    """

    task: Task
    width: int
    spread: float
    most_levels: int
    lacks_numbers: bool
    lacks_categories: bool

    @property
    def encoding(self) -> Config:
        """The encoding that makes every level a column."""
        if self.most_levels > MOST_LEVELS:
            raise NotTheSame(f"a category has more than {MOST_LEVELS} levels")
        return {"encoding": "one_hot", "max_levels": max(USUAL_LEVELS, self.most_levels)}


@dataclass(frozen=True)
class Translated:
    """A configuration with our parameters, or with the flow's own; then `reason` says why."""

    algorithm: str
    config: Config
    reason: str | None = None


def shape_of(dataset: Dataset) -> DatasetShape:
    """Return what the translation needs to know of a data set."""
    X = dataset.X
    names = [name for name in X.columns if isinstance(X[name].dtype, pd.CategoricalDtype)]
    levels = max((len(X[name].cat.categories) for name in names), default=0)
    head = Head(
        encoding="one_hot", max_levels=max(levels, 2), imputation="mean", scaling="standard", precision="float64"
    )
    n_classes = None if dataset.labels is None else len(dataset.labels)
    Z = head.fit_transform(X, dataset.y, n_classes)
    return DatasetShape(
        task=dataset.task,
        width=Z.shape[1],
        spread=float(Z.var()) or 1.0,
        most_levels=levels,
        lacks_numbers=bool(X.drop(columns=names).isna().any(axis=None)),
        lacks_categories=bool(X[names].isna().any(axis=None)),
    )


def translate(setup: Setup, shape: DatasetShape | None) -> Translated:
    """Return our counterpart of a setup, or the setup under its own name with the reason."""
    own_name = f"openml.flow.{setup.flow}"
    if setup.flow not in _FLOWS:
        return Translated(own_name, setup.flat(), "the flow has no counterpart here")
    algorithm, translator = _FLOWS[setup.flow]
    try:
        if shape is None:
            raise NotTheSame("the data set is not known")
        config = translator(setup, shape)
        ALGORITHMS[algorithm].space(shape.task).check(config)
    except NotTheSame as difference:
        return Translated(own_name, setup.flat(), str(difference))
    except BadConfig:
        return Translated(own_name, setup.flat(), "it lies outside our space")
    except KeyError as missing:
        return Translated(own_name, setup.flat(), f"{missing.args[0]} is not recorded")
    return Translated(algorithm, config)


def _forest(setup: Setup, shape: DatasetShape) -> Config:
    forest = _part(setup, "RandomForestClassifier", "RandomForestRegressor")
    _only(forest, _TREE_LIMITS)
    if shape.lacks_numbers or shape.lacks_categories:
        raise NotTheSame("cells are missing, which ours does not impute")
    config: Config = {
        name: forest[name] for name in ("n_estimators", "min_samples_leaf", "min_samples_split", "bootstrap")
    }
    if shape.task != "regression":
        config |= {"criterion": forest["criterion"], "class_weight": None}
    config["max_features"] = power_of(forest["max_features"], shape.width)
    if config["bootstrap"]:
        config["max_samples"] = 1.0
    return config | shape.encoding


def _adaboost(setup: Setup, shape: DatasetShape) -> Config:
    boost = _part(setup, "AdaBoostClassifier")
    tree = _part(setup, "DecisionTreeClassifier")
    if boost.get("algorithm", "SAMME") != "SAMME":
        raise NotTheSame(f"{boost['algorithm']} is gone from scikit-learn")
    usual: dict[str, Value] = {"criterion": "gini", "splitter": "best", "min_samples_split": 2}
    _only(tree, {name: value for name, value in _TREE_LIMITS.items() if name != "max_depth"} | usual)
    return {
        "n_estimators": boost["n_estimators"],
        "learning_rate": _as_float(boost["learning_rate"]),
        "max_depth": tree["max_depth"],
        "min_samples_leaf": tree.get("min_samples_leaf", 1),
        "max_features": power_of(tree.get("max_features"), shape.width),
        "class_weight": None,
        "imputation": _imputation(setup, shape),
        **shape.encoding,
    }


def _svm(setup: Setup, shape: DatasetShape) -> Config:
    machine = _part(setup, "SVC")
    _only(machine, {"class_weight": None, "max_iter": -1})
    _part(setup, "StandardScaler")
    if shape.most_levels and setup.part("ColumnTransformer") is None:
        raise NotTheSame("one-hot columns are scaled there, but not here")
    kernel = machine["kernel"]
    config: Config = {
        "kernel": kernel,
        "C": _as_float(machine["C"]),
        "shrinking": machine["shrinking"],
        "tol": _as_float(machine["tol"]),
        "class_weight": None,
        "imputation": _imputation(setup, shape),
        "scaling": "standard",
        **shape.encoding,
    }
    if kernel in ("rbf", "poly", "sigmoid"):
        gamma = 1 / shape.width if machine["gamma"] == "auto" else _as_float(machine["gamma"])
        config["gamma"] = gamma * shape.width * shape.spread
    if kernel in ("poly", "sigmoid"):
        config["coef0"] = _as_float(machine["coef0"])
    if kernel == "poly":
        config["degree"] = machine["degree"]
    return config


def power_of(max_features: Value, width: int) -> float:
    """Return the power p for which width ** p columns are as many as scikit-learn would try at a split.

    >>> power_of(0.5, 16), power_of("sqrt", 16), power_of(None, 16), power_of(1, 16)
    (0.75, 0.5, 1.0, 0.0)
    """
    if max_features is None:
        n_tried = width
    elif max_features in ("auto", "sqrt"):
        n_tried = int(math.sqrt(width))
    elif max_features == "log2":
        n_tried = int(math.log2(width)) if width > 1 else 1
    elif isinstance(max_features, float):
        n_tried = int(max_features * width)
    else:
        n_tried = int(max_features)
    if width == 1:
        return 1.0
    return float(f"{math.log(min(max(n_tried, 1), width)) / math.log(width):.6g}")


def _part(setup: Setup, *names: str) -> Config:
    for name in names:
        found = setup.part(name)
        if found is not None:
            return found
    raise NotTheSame(f"it has no {names[0]}")


def _only(config: Config, wanted: Mapping[str, Value]) -> None:
    """Refuse a parameter that we do not have, unless it is left at the value that means nothing."""
    for name, value in wanted.items():
        if config.get(name, value) != value:
            raise NotTheSame(f"{name} is {config[name]!r}, which ours cannot be")


def _imputation(setup: Setup, shape: DatasetShape) -> Value:
    if shape.lacks_categories:
        raise NotTheSame("a category is missing, which ours does not impute")
    if not shape.lacks_numbers:
        return "median"
    for name in ("ConditionalImputer", "ConditionalImputer2", "Imputer", "SimpleImputer"):
        strategy = (setup.part(name) or {}).get("strategy")
        if strategy in ("mean", "median"):
            return strategy
        if strategy is not None:
            raise NotTheSame(f"missing numbers are replaced by {strategy}")
    raise NotTheSame("how missing numbers are replaced is not recorded")


def _as_float(value: Value) -> float:
    if isinstance(value, str) or value is None or not np.isfinite(value):
        raise NotTheSame(f"{value!r} is not a number")
    return float(value)


_FLOWS: dict[int, tuple[str, Callable[[Setup, DatasetShape], Config]]] = {
    6969: ("random_forest", _forest),
    8315: ("random_forest", _forest),
    6970: ("adaboost", _adaboost),
    8317: ("svm", _svm),
}
