"""The classes a model file may contain, each with what is saved of it and how it is restored.

A file names classes by the names given here; it cannot name anything else, and no constructor or method of its
choice is called. A class that holds only plain state is restored by filling a blank object. A class that keeps its
state in C, or cannot be trusted with it, has its own functions for saving and restoring.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

State = dict[str, Any]


@dataclass(frozen=True)
class TrustedClass:
    """How objects of a class are saved and restored.

    `forget` names attributes that predicting does not need; they are None in the restored object.
    """

    place: str
    forget: tuple[str, ...] = ()
    take: Callable[[Any], State] | None = None
    make: Callable[[type, State], Any] | None = None

    @property
    def type(self) -> type:
        """Return the class; it is imported, and nothing else happens."""
        module, _, name = self.place.partition(":")
        found: type = getattr(import_module(module), name)
        return found

    def state_of(self, item: Any) -> State:
        """Return what to keep of an object."""
        if self.take is not None:
            return self.take(item)
        return {name: None if name in self.forget else value for name, value in vars(item).items()}

    def restored(self, state: State) -> Any:
        """Return an object with this state."""
        if self.make is not None:
            return self.make(self.type, state)
        return _filled(self.type, state)


def _filled(kind: type, state: State) -> Any:
    """Return a blank object with these attributes; nothing of the class is called."""
    item: Any = object.__new__(kind)
    item.__dict__.update(state)
    return item


def _take_tree(tree: Any) -> State:
    _, (n_features, n_classes, n_outputs), state = tree.__reduce__()
    return {"n_features": n_features, "n_classes": n_classes, "n_outputs": n_outputs, "state": state}


def _make_tree(kind: type, kept: State) -> Any:
    nodes = kept["state"]["nodes"]
    _check_nodes(
        nodes["left_child"], nodes["right_child"], nodes["left_child"] < 0, nodes["feature"], kept["n_features"]
    )
    if len(nodes) != kept["state"]["node_count"] or len(kept["state"]["values"]) != len(nodes):
        raise ValueError("a tree has fewer nodes than it says")
    tree: Any = kind(kept["n_features"], kept["n_classes"], kept["n_outputs"])
    tree.__setstate__(kept["state"])
    return tree


def _make_predictor(kind: type, state: State) -> Any:
    nodes, n_sets = state["nodes"], len(state["raw_left_cat_bitsets"])
    _check_nodes(nodes["left"], nodes["right"], nodes["is_leaf"] != 0, nodes["feature_idx"], None)
    splits_categories = (nodes["is_categorical"] != 0) & (nodes["is_leaf"] == 0)
    if (nodes["bitset_idx"][splits_categories] >= n_sets).any():
        raise ValueError("a tree refers to categories that it does not have")
    return _filled(kind, state)


def _make_histograms(kind: type, state: State) -> Any:
    """Return a booster without the rounds after its best one, which older files still hold."""
    item = _filled(kind, state)
    del item.model_._predictors[item.rounds_ :]
    trees = [tree for trees in item.model_._predictors for tree in trees]
    if any((tree.nodes["feature_idx"] >= item.model_.n_features_in_).any() for tree in trees):
        raise ValueError("a tree asks for columns that are not there")
    return item


def _check_nodes(left: Any, right: Any, is_leaf: Any, feature: Any, n_features: int | None) -> None:
    """Refuse trees whose nodes point backwards or outside: compiled code would follow them without a check."""
    inner = ~np.asarray(is_leaf)
    numbers = np.arange(len(inner))[inner]
    for child in (left[inner].astype(np.int64), right[inner].astype(np.int64)):
        if (child <= numbers).any() or (child >= len(inner)).any():
            raise ValueError("a tree points outside itself")
    if (feature[inner] < 0).any() or (n_features is not None and (feature[inner] >= n_features).any()):
        raise ValueError("a tree asks for columns that are not there")


def _make_neighbors(kind: type, state: State) -> Any:
    """Return nearest neighbours with their search tree built anew: the same rows always give the same tree."""
    from sklearn.neighbors import BallTree, KDTree

    item = _filled(kind, state)
    trees = {"kd_tree": KDTree, "ball_tree": BallTree}
    if state["_fit_method"] in trees:
        settings = state["effective_metric_params_"]
        item._tree = trees[state["_fit_method"]](
            state["_fit_X"], state["leaf_size"], metric=state["effective_metric_"], **settings
        )
    return item


def _make_loss(kind: type, state: State) -> Any:
    return kind(**state)


def _take_check(check: Any) -> State:
    from sklearn.utils import check_array

    if check.func is not check_array or check.args:
        raise TypeError(f"cannot save the function {check.func!r}")
    return dict(check.keywords)


def _make_check(kind: type, state: State) -> Any:
    from sklearn.utils import check_array

    return kind(check_array, **state)


def _bytes(content: bytes | bytearray) -> State:
    return {"content": np.frombuffer(content, dtype=np.uint8)}


def _take_lightgbm(booster: Any) -> State:
    return _bytes(booster.model_to_string().encode())


def _make_lightgbm(kind: type, state: State) -> Any:
    return kind(model_str=state["content"].tobytes().decode())


def _take_xgboost(booster: Any) -> State:
    return _bytes(booster.save_raw("ubj"))


def _make_xgboost(kind: type, state: State) -> Any:
    booster = kind({"nthread": 1, "verbosity": 0})
    booster.load_model(bytearray(state["content"].tobytes()))
    booster.set_param({"nthread": 1, "verbosity": 0})
    return booster


def _take_catboost(model: Any) -> State:
    return _bytes(model._serialize_model())


def _make_catboost(kind: type, state: State) -> Any:
    model: Any = kind()
    model.load_model(blob=state["content"].tobytes())
    return model


_NEIGHBORS = partial(TrustedClass, forget=("_tree",), make=_make_neighbors)
_LOSS = partial(TrustedClass, take=lambda _: {}, make=_make_loss)
_ESTIMATOR = partial(TrustedClass, forget=("head", "model", "settle"))
_PERCEPTRON = partial(TrustedClass, forget=("_random_state", "_optimizer", "loss_curve_"))
_HISTOGRAMS = partial(TrustedClass, forget=("_feature_subsample_rng",))
_HISTOGRAM_MODULE = "sklearn.ensemble._hist_gradient_boosting"

TRUSTED: dict[str, TrustedClass] = {
    "TabularClassifier": _ESTIMATOR("metaml.algorithms.tabular:TabularClassifier"),
    "TabularRegressor": _ESTIMATOR("metaml.algorithms.tabular:TabularRegressor"),
    "Head": TrustedClass("metaml.algorithms.preprocessing:Head"),
    "Levels": TrustedClass("metaml.algorithms.categories:Levels"),
    "Impact": TrustedClass("metaml.algorithms.categories:Impact"),
    "adaboost": TrustedClass("metaml.algorithms.adaboost:_AdaBoost"),
    "catboost": TrustedClass("metaml.algorithms.catboost:_CatBoost"),
    "forest": TrustedClass("metaml.algorithms.forests:_Forest"),
    "gradient_boosting": TrustedClass("metaml.algorithms.gradient_boosting:_HistogramBoosting", make=_make_histograms),
    "lightgbm": TrustedClass("metaml.algorithms.lightgbm:_LightGBM"),
    "mlp": TrustedClass("metaml.algorithms.mlp:_Perceptron"),
    "svm": TrustedClass("metaml.algorithms.svm:_SupportVectors"),
    "xgboost": TrustedClass("metaml.algorithms.xgboost:_XGBoost"),
    "AdaBoostClassifier": TrustedClass("sklearn.ensemble:AdaBoostClassifier"),
    "AdaBoostRegressor": TrustedClass("sklearn.ensemble:AdaBoostRegressor"),
    "ColumnTransformer": TrustedClass("sklearn.compose:ColumnTransformer"),
    "DecisionTreeClassifier": TrustedClass("sklearn.tree:DecisionTreeClassifier"),
    "DecisionTreeRegressor": TrustedClass("sklearn.tree:DecisionTreeRegressor"),
    "ElasticNet": TrustedClass("sklearn.linear_model:ElasticNet"),
    "ExtraTreeClassifier": TrustedClass("sklearn.tree:ExtraTreeClassifier"),
    "ExtraTreeRegressor": TrustedClass("sklearn.tree:ExtraTreeRegressor"),
    "ExtraTreesClassifier": TrustedClass("sklearn.ensemble:ExtraTreesClassifier"),
    "ExtraTreesRegressor": TrustedClass("sklearn.ensemble:ExtraTreesRegressor"),
    "FunctionTransformer": TrustedClass("sklearn.preprocessing:FunctionTransformer"),
    "HistGradientBoostingClassifier": _HISTOGRAMS("sklearn.ensemble:HistGradientBoostingClassifier"),
    "HistGradientBoostingRegressor": _HISTOGRAMS("sklearn.ensemble:HistGradientBoostingRegressor"),
    "KNeighborsClassifier": _NEIGHBORS("sklearn.neighbors:KNeighborsClassifier"),
    "KNeighborsRegressor": _NEIGHBORS("sklearn.neighbors:KNeighborsRegressor"),
    "LabelBinarizer": TrustedClass("sklearn.preprocessing:LabelBinarizer"),
    "LabelEncoder": TrustedClass("sklearn.preprocessing:LabelEncoder"),
    "LogisticRegression": TrustedClass("sklearn.linear_model:LogisticRegression"),
    "MLPClassifier": _PERCEPTRON("sklearn.neural_network:MLPClassifier"),
    "MLPRegressor": _PERCEPTRON("sklearn.neural_network:MLPRegressor"),
    "OrdinalEncoder": TrustedClass("sklearn.preprocessing:OrdinalEncoder"),
    "QuantileTransformer": TrustedClass("sklearn.preprocessing:QuantileTransformer"),
    "RandomForestClassifier": TrustedClass("sklearn.ensemble:RandomForestClassifier"),
    "RandomForestRegressor": TrustedClass("sklearn.ensemble:RandomForestRegressor"),
    "Ridge": TrustedClass("sklearn.linear_model:Ridge"),
    "SVC": TrustedClass("sklearn.svm:SVC"),
    "SVR": TrustedClass("sklearn.svm:SVR"),
    "AbsoluteError": _LOSS("sklearn._loss.loss:AbsoluteError"),
    "HalfBinomialLoss": _LOSS("sklearn._loss.loss:HalfBinomialLoss"),
    "HalfMultinomialLoss": _LOSS(
        "sklearn._loss.loss:HalfMultinomialLoss", take=lambda loss: {"n_classes": int(loss.n_classes)}
    ),
    "HalfSquaredError": _LOSS("sklearn._loss.loss:HalfSquaredError"),
    "BinMapper": TrustedClass(f"{_HISTOGRAM_MODULE}.binning:_BinMapper"),
    "TreePredictor": TrustedClass(f"{_HISTOGRAM_MODULE}.predictor:TreePredictor", make=_make_predictor),
    "Tree": TrustedClass("sklearn.tree._tree:Tree", take=_take_tree, make=_make_tree),
    "check_array": TrustedClass("functools:partial", take=_take_check, make=_make_check),
    "LightGBMBooster": TrustedClass("lightgbm:Booster", take=_take_lightgbm, make=_make_lightgbm),
    "XGBoostBooster": TrustedClass("xgboost:Booster", take=_take_xgboost, make=_make_xgboost),
    "CatBoostClassifier": TrustedClass("catboost:CatBoostClassifier", take=_take_catboost, make=_make_catboost),
    "CatBoostRegressor": TrustedClass("catboost:CatBoostRegressor", take=_take_catboost, make=_make_catboost),
}
"""Every class by its name in files; an algorithm that brings a new one adds it here."""


_NAMES = {
    (recipe.place.partition(":")[0].partition(".")[0], recipe.place.partition(":")[2]): name
    for name, recipe in TRUSTED.items()
}


def name_of(item: Any) -> str | None:
    """Return the name that an object's class has in files, None if it has none."""
    kind = type(item)
    # Package and name are compared first, so that no other library is imported to compare.
    name = _NAMES.get((kind.__module__.partition(".")[0], kind.__name__))
    return name if name is not None and TRUSTED[name].type is kind else None
