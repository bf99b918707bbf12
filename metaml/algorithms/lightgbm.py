"""LightGBM (Ke et al. 2017), stopped early."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.allowance import Rounds
from metaml.algorithms.base import Algorithm, Booster, Matrix, PlainLearner, Training, Vector, picked
from metaml.algorithms.boosting import (
    FIXED_ROUNDS,
    boosted,
    max_rounds,
    rounds_without_stopping,
    share_of_columns,
    stopping_parameters,
    two_columns,
)
from metaml.algorithms.preprocessing import encoding_parameters, head_from
from metaml.algorithms.trusted_classes import State, TrustedClass, as_bytes
from metaml.arrays import Flags
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task

_ROW_TYPES, _NORMAL, _ROW_MAJOR = {"float32": 0, "float64": 1}, 0, 1
"""What LightGBM's C functions call the types of numbers, plain predictions, and rows."""
HUBER_DELTA = 0.9
"""From this error on, in standard deviations of the target, Huber's loss is linear: LightGBM's own default."""


@cache
def space(task: Task) -> Space:
    """Return the space of LightGBM."""
    own: Parameter = (
        Choice("objective", ("regression", "regression_l1", "huber"), default="regression")
        if task == "regression"
        else Choice("class_weight", (None, "balanced"), default=None)
    )
    return Space(
        [
            Float("learning_rate", 0.01, 0.5, default=0.1, log=True),
            Integer("num_leaves", 3, 255, default=31, log=True),
            Integer("min_data_in_leaf", 1, 200, default=20, log=True),
            Float("feature_fraction", 0.2, 1.0, default=0.7),
            Float("bagging_fraction", 0.3, 1.0, default=1.0),
            Float("lambda_l1", 1e-8, 100.0, default=1e-8, log=True),
            Float("lambda_l2", 1e-8, 100.0, default=1.0, log=True),
            Choice("extra_trees", (False, True), default=False),
            own,
            *stopping_parameters(),
            *encoding_parameters("native", native=True),
            Float("cat_smooth", 1.0, 100.0, default=10.0, log=True, when=("encoding", ("native",))),
        ]
    )


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted booster for `config`; missing numbers are left to it."""
    space(task).check(config)
    model = _LightGBM(config, seed=seed, n_threads=n_threads)
    return boosted(
        config, head_from(config, seed=seed), model, task=task, seed=seed, n_threads=n_threads, seconds=seconds
    )


class _LightGBM(Booster):
    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        import lightgbm

        settings = self._settings(y)
        settings["feature_fraction"] = share_of_columns(settings["feature_fraction"], Z.shape[1])
        if training.directions:
            settings["monotone_constraints"] = list(training.directions)
        columns = np.flatnonzero(training.categorical).tolist()
        train = lightgbm.Dataset(Z, y, weight=training.weight, categorical_feature=columns, params=settings)
        if training.validation is None:
            fixed = training.rounds or rounds_without_stopping(settings["learning_rate"])
            timer = _StopInTime(Rounds(training.allowance))
            self.booster_ = lightgbm.train(settings, train, num_boost_round=fixed, callbacks=[timer])
            self.rounds_ = timer.n_rounds
            return
        rows, target, weight = training.validation
        held_out = lightgbm.Dataset(rows, target, weight=weight, reference=train, params=settings)
        patience = self.config["early_stopping_rounds"]
        self.booster_ = lightgbm.train(
            settings,
            train,
            num_boost_round=max_rounds(settings.get("num_class", 1)),
            valid_sets=[held_out],
            callbacks=[lightgbm.early_stopping(patience, verbose=False), _StopInTime(Rounds(training.allowance))],
        )
        self.rounds_ = int(self.booster_.best_iteration)

    def predict(self, Z: Matrix) -> Vector:
        if len(Z) == 1 and self.n_threads == 1:
            return predicted_row(self.booster_, Z)
        result: Any = self.booster_.predict(Z, num_threads=self.n_threads)
        return np.asarray(result)

    def predict_proba(self, Z: Matrix) -> Matrix:
        return two_columns(self.predict(Z))

    def contributions(self, Z: Matrix) -> Matrix:
        parts: Any = self.booster_.predict(Z, num_threads=self.n_threads, pred_contrib=True)
        return np.asarray(parts, dtype=np.float64).reshape(len(Z), -1, Z.shape[1] + 1).transpose(0, 2, 1)

    def _settings(self, y: Vector) -> dict[str, Any]:
        names = (
            "learning_rate",
            "num_leaves",
            "min_data_in_leaf",
            "feature_fraction",
            "bagging_fraction",
            "lambda_l1",
            "lambda_l2",
            "extra_trees",
            "cat_smooth",
        )
        settings: dict[str, Any] = {name: self.config[name] for name in names if name in self.config}
        if "objective" in self.config:
            settings["objective"] = self.config["objective"]
        elif y.max() > 1:
            settings |= {"objective": "multiclass", "num_class": int(y.max()) + 1}
        else:
            settings["objective"] = "binary"
        return settings | {
            "bagging_freq": 1,
            "seed": self.seed,
            "num_threads": self.n_threads,
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }


def predicted_row(booster: Any, Z: Matrix) -> Vector:
    """Return what the booster predicts for the only row of a matrix, with one thread: bitwise as its `predict`."""
    from lightgbm import basic

    call = getattr(getattr(basic, "_LIB", None), "LGBM_BoosterPredictForMatSingleRow", None)
    handle = getattr(booster, "_handle", None)
    if call is not None and handle is not None and Z.dtype.name in _ROW_TYPES:
        row = np.ascontiguousarray(Z[0])
        n_outputs = booster.num_model_per_iteration()
        result, n_made = np.empty(n_outputs), ctypes.c_int64(0)
        failed = call(
            handle,
            row.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int(_ROW_TYPES[Z.dtype.name]),
            ctypes.c_int(len(row)),
            ctypes.c_int(_ROW_MAJOR),
            ctypes.c_int(_NORMAL),
            ctypes.c_int(0),
            ctypes.c_int(booster.best_iteration),
            ctypes.c_char_p(b"num_threads=1"),
            ctypes.byref(n_made),
            result.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
        )
        if not failed and n_made.value == n_outputs:
            return result if n_outputs == 1 else result[np.newaxis]
    # What went wrong there is told here.
    told: Vector = np.asarray(booster.predict(Z, num_threads=1))
    return told


class _StopInTime:
    """A callback that ends training when there is no time for another round, with the best round so far."""

    def __init__(self, rounds: Rounds) -> None:
        self.order = 100  # after early stopping, which may end the training by itself
        self.n_rounds = 0
        self._rounds = rounds
        self._best: Any = None
        self._smallest_loss = np.inf

    def __call__(self, env: Any) -> None:
        import lightgbm

        self.n_rounds += 1
        results = env.evaluation_result_list
        loss = results[0][2] if results else -self.n_rounds  # without validation rows, the last round is the best
        if self._best is None or loss < self._smallest_loss:
            self._best, self._smallest_loss = (env.iteration, results), loss
        if self.n_rounds < env.end_iteration and not self._rounds.may_go_on():
            raise lightgbm.callback.EarlyStopException(*self._best)


def _take_booster(booster: Any) -> State:
    return as_bytes(booster.model_to_string().encode())


def _make_booster(kind: type, state: State) -> Any:
    from lightgbm import basic

    from metaml.algorithms.formats.lightgbm_text import checked_text, parameter_names

    text = checked_text(state["content"].tobytes().decode())
    known = basic._ConfigAliases._get_all_param_aliases()
    if not set(parameter_names(text)) <= set(known):
        raise ValueError("a booster has a parameter that LightGBM does not know")
    return kind(model_str=text)


def plain(config: Config, task: Task, n_columns: int) -> PlainLearner:  # noqa: ARG001
    """Return LightGBM's estimator, with a fixed number of rounds."""
    settings = picked(
        config,
        "learning_rate",
        "num_leaves",
        "class_weight",
        "objective",
        "extra_trees",
        "cat_smooth",
        min_data_in_leaf="min_child_samples",
        feature_fraction="colsample_bytree",
        bagging_fraction="subsample",
        lambda_l1="reg_alpha",
        lambda_l2="reg_lambda",
    )
    rounds = rounds_without_stopping(float(settings["learning_rate"]))
    kind = "LGBMRegressor" if task == "regression" else "LGBMClassifier"
    fixed: dict[str, float] = {"subsample_freq": 1, "n_estimators": rounds, "verbosity": -1}
    # The gradient of an absolute error has no unit, the others have that of the target.
    powers = {"reg_alpha": 1, "alpha": 1} if settings.get("objective") in ("regression", "huber") else {}
    if settings.get("objective") == "huber":
        fixed["alpha"] = HUBER_DELTA
    return PlainLearner("lightgbm", kind, settings | fixed, note=FIXED_ROUNDS, target_powers=powers)


def reads(model: _LightGBM) -> Flags:
    """Return the columns that a tree is split by."""
    flags: Flags = model.booster_.feature_importance("split") > 0
    return flags


ALGORITHM = Algorithm(
    "lightgbm",
    space,
    build,
    library="lightgbm",
    modules=("lightgbm",),
    first_turn=1,
    first_turn_if_wide=5,
    first_turn_if_slow=5,
    one_way={"objective": ("regression", "huber")},  # leaves of absolute errors are moved after the tree has grown
    for_many_rows={"num_leaves": 127, "learning_rate": 0.05, "feature_fraction": 0.8},
    saves=(
        TrustedClass("lightgbm", "metaml.algorithms.lightgbm:_LightGBM"),
        TrustedClass("LightGBMBooster", "lightgbm:Booster", take=_take_booster, make=_make_booster),
    ),
    plain=plain,
    reads=reads,
)
