"""scikit-learn's histogram gradient boosting, stopped early."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.allowance import Rounds
from metaml.algorithms.base import Algorithm, Booster, Matrix, PlainLearner, Training, Vector, picked
from metaml.algorithms.boosting import boosted, max_rounds, rounds_without_stopping, stopping_parameters
from metaml.algorithms.flat_trees import MOST_ROWS, of_histograms, sums
from metaml.algorithms.preprocessing import encoding_parameters, head_from
from metaml.algorithms.trusted_classes import State, TrustedClass, check_nodes, filled
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


@cache
def space(task: Task) -> Space:
    """Return the space of histogram gradient boosting."""
    own: Parameter = (
        Choice("loss", ("squared_error", "absolute_error"), default="squared_error")
        if task == "regression"
        else Choice("class_weight", (None, "balanced"), default=None)
    )
    return Space(
        [
            Float("learning_rate", 0.01, 0.5, default=0.1, log=True),
            Integer("max_leaf_nodes", 3, 255, default=31, log=True),
            Integer("min_samples_leaf", 1, 200, default=20, log=True),
            Float("l2_regularization", 1e-8, 100.0, default=1.0, log=True),
            Float("max_features", 0.2, 1.0, default=0.5),
            own,
            *stopping_parameters(),
            *encoding_parameters("native", native=True),
        ]
    )


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted booster for `config`; missing numbers are left to it."""
    space(task).check(config)
    model = _HistogramBoosting(config, seed=seed, n_threads=n_threads)
    return boosted(
        config, head_from(config, seed=seed), model, task=task, seed=seed, n_threads=n_threads, seconds=seconds
    )


class _HistogramBoosting(Booster):
    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        names = (
            "learning_rate",
            "max_leaf_nodes",
            "min_samples_leaf",
            "l2_regularization",
            "max_features",
            "loss",
        )
        settings: dict[str, Any] = {name: self.config[name] for name in names if name in self.config}
        settings |= {
            "max_iter": training.rounds or rounds_without_stopping(settings["learning_rate"]),
            "early_stopping": False,
            "categorical_features": training.categorical,
            "random_state": self.seed,
            "monotonic_cst": training.directions or None,
        }
        held_out: dict[str, Any] = {}
        if training.validation is not None:
            settings |= {
                "max_iter": max_rounds(1 if "loss" in self.config else int(y.max()) + 1),
                "early_stopping": True,
                "n_iter_no_change": self.config["early_stopping_rounds"],
            }
            held_out = dict(zip(("X_val", "y_val", "sample_weight_val"), training.validation, strict=True))
        kind = HistGradientBoostingRegressor if "loss" in self.config else HistGradientBoostingClassifier
        if training.allowance.is_limited and training.validation is None:
            # Only what may stop early asks after each round. Without validation rows that changes no round.
            settings |= {"early_stopping": True, "validation_fraction": None, "n_iter_no_change": settings["max_iter"]}
        self.model_ = kind(**settings)
        with _stopped_in_time(self.model_, training):
            self.model_.fit(Z, y, sample_weight=training.weight, **held_out)
        scores = self.model_.validation_score_[1:]  # the first is that of no rounds at all
        self.rounds_ = int(np.argmax(scores)) + 1 if training.validation is not None else int(self.model_.n_iter_)
        # scikit-learn keeps the rounds it waited through; they are not part of the answer.
        del self.model_._predictors[self.rounds_ :]

    def predict(self, Z: Matrix) -> Vector:
        raw = self._raw(Z)
        result: Vector = self.model_.predict(Z) if raw is None else self.model_._loss.link.inverse(raw.ravel())
        return result

    def predict_proba(self, Z: Matrix) -> Matrix:
        raw = self._raw(Z)
        result: Matrix = self.model_.predict_proba(Z) if raw is None else self.model_._loss.predict_proba(raw)
        return result

    def _raw(self, Z: Matrix) -> Matrix | None:
        """Return the sums of the trees for a few rows; None where scikit-learn itself is better asked."""
        model = self.model_
        is_plain = model._preprocessor is None and Z.shape[1] == model.n_features_in_
        if len(Z) > MOST_ROWS or not is_plain:
            return None
        trees = [tree for trees in model._predictors for tree in trees]
        flat = of_histograms(self, trees)
        if flat is None:
            return None
        n_each, start = (
            len(model._predictors[0]),
            np.asarray(model._baseline_prediction, dtype=np.float64).reshape(1, -1),
        )
        rows = np.asarray(Z, dtype=np.float64)
        return np.stack([sums(flat.ends(row).reshape(-1, n_each), start[0]) for row in rows])


@contextmanager
def _stopped_in_time(model: Any, training: Training) -> Iterator[None]:
    """End the training of a model when there is no time for another round. Without a limit nothing is changed."""
    if not training.allowance.is_limited:
        yield
        return
    rounds, stops_by_itself = Rounds(training.allowance), model._should_stop

    def should_stop(scores: list[float]) -> bool:
        if stops_by_itself(scores):
            return True
        n_done = len(scores) - 1  # the first score is that of no rounds at all
        return 0 < n_done < model.max_iter and not rounds.may_go_on()

    model._should_stop = should_stop
    try:
        yield
    finally:
        del model._should_stop


def _make_predictor(kind: type, state: State) -> Any:
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    nodes, n_sets = state["nodes"], len(state["raw_left_cat_bitsets"])
    if nodes.dtype != PREDICTOR_RECORD_DTYPE or nodes.ndim != 1 or not len(nodes):
        raise ValueError("a tree has nodes of another kind")
    for sets in (state["raw_left_cat_bitsets"], state["binned_left_cat_bitsets"]):
        if sets.shape != (n_sets, 8) or sets.dtype != np.uint32:
            raise ValueError("a tree has categories of another kind")
    check_nodes(nodes["left"], nodes["right"], nodes["is_leaf"] != 0, nodes["feature_idx"], None)
    splits_categories = (nodes["is_categorical"] != 0) & (nodes["is_leaf"] == 0)
    if (nodes["bitset_idx"][splits_categories] >= n_sets).any():
        raise ValueError("a tree refers to categories that it does not have")
    return filled(kind, state)


def _make_histograms(kind: type, state: State) -> Any:
    """Return a booster without the rounds after its best one, which older files still hold."""
    item = filled(kind, state)
    del item.model_._predictors[item.rounds_ :]
    trees = [tree for trees in item.model_._predictors for tree in trees]
    if any((tree.nodes["feature_idx"] >= item.model_.n_features_in_).any() for tree in trees):
        raise ValueError("a tree asks for columns that are not there")
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


_LOSS = partial(TrustedClass, take=lambda _: {}, make=_make_loss)
_HISTOGRAMS = partial(TrustedClass, forget=("_feature_subsample_rng",))
_HISTOGRAM_MODULE = "sklearn.ensemble._hist_gradient_boosting"


def plain(config: Config, task: Task, n_columns: int) -> PlainLearner:  # noqa: ARG001
    """Return scikit-learn's histogram boosting, which stops early by itself."""
    names = ("learning_rate", "max_leaf_nodes", "min_samples_leaf", "l2_regularization", "max_features", "loss")
    settings = picked(config, *names, "class_weight", "validation_fraction", early_stopping_rounds="n_iter_no_change")
    kind = "HistGradientBoostingRegressor" if task == "regression" else "HistGradientBoostingClassifier"
    return PlainLearner("sklearn.ensemble", kind, settings | {"max_iter": 1000, "early_stopping": True})


ALGORITHM = Algorithm(
    "gradient_boosting",
    space,
    build,
    modules=("sklearn.ensemble",),
    first_turn=7,
    one_way={"loss": ("squared_error",)},
    for_many_rows={"max_leaf_nodes": 127, "learning_rate": 0.08},
    saves=(
        TrustedClass(
            "gradient_boosting", "metaml.algorithms.gradient_boosting:_HistogramBoosting", make=_make_histograms
        ),
        _HISTOGRAMS("HistGradientBoostingClassifier", "sklearn.ensemble:HistGradientBoostingClassifier"),
        _HISTOGRAMS("HistGradientBoostingRegressor", "sklearn.ensemble:HistGradientBoostingRegressor"),
        TrustedClass("BinMapper", f"{_HISTOGRAM_MODULE}.binning:_BinMapper"),
        TrustedClass("TreePredictor", f"{_HISTOGRAM_MODULE}.predictor:TreePredictor", make=_make_predictor),
        _LOSS("AbsoluteError", "sklearn._loss.loss:AbsoluteError"),
        _LOSS("HalfBinomialLoss", "sklearn._loss.loss:HalfBinomialLoss"),
        _LOSS(
            "HalfMultinomialLoss",
            "sklearn._loss.loss:HalfMultinomialLoss",
            take=lambda loss: {"n_classes": int(loss.n_classes)},
        ),
        _LOSS("HalfSquaredError", "sklearn._loss.loss:HalfSquaredError"),
        TrustedClass("ColumnTransformer", "sklearn.compose:ColumnTransformer"),
        TrustedClass("FunctionTransformer", "sklearn.preprocessing:FunctionTransformer"),
        TrustedClass("LabelEncoder", "sklearn.preprocessing:LabelEncoder"),
        TrustedClass("OrdinalEncoder", "sklearn.preprocessing:OrdinalEncoder"),
        TrustedClass("check_array", "functools:partial", take=_take_check, make=_make_check),
    ),
    plain=plain,
)
