"""CatBoost (Prokhorenkova et al. 2018), stopped early; an optional extra."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaml.algorithms.allowance import Rounds
from metaml.algorithms.base import Algorithm, Booster, Matrix, Training, Vector
from metaml.algorithms.boosting import boosted, max_rounds, rounds_without_stopping, stopping_parameters
from metaml.algorithms.preprocessing import encoding_parameters, head_from
from metaml.algorithms.trusted_classes import State, TrustedClass, as_bytes
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config
from metaml.system.trial_process import survives

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


@cache
def space(task: Task) -> Space:
    """Return the space of CatBoost."""
    own: Parameter = (
        Choice("loss_function", ("RMSE", "MAE"), default="RMSE")
        if task == "regression"
        else Choice("class_weight", (None, "balanced"), default=None)
    )
    return Space(
        [
            Float("learning_rate", 0.01, 0.5, default=0.1, log=True),
            Integer("depth", 2, 10, default=6),
            Float("l2_leaf_reg", 0.1, 100.0, default=3.0, log=True),
            Float("random_strength", 0.01, 10.0, default=1.0, log=True),
            Float("bagging_temperature", 0.0, 2.0, default=1.0),
            Float("rsm", 0.2, 1.0, default=1.0),
            own,
            *stopping_parameters(),
            *encoding_parameters("native", native=True),
        ]
    )


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted booster for `config`; missing numbers are left to it."""
    space(task).check(config)
    model = _CatBoost(config, seed=seed, n_threads=n_threads)
    return boosted(
        config, head_from(config, seed=seed), model, task=task, seed=seed, n_threads=n_threads, seconds=seconds
    )


class _CatBoost(Booster):
    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        from catboost import CatBoostClassifier, CatBoostRegressor

        self.categorical_ = training.categorical
        names = (
            "learning_rate",
            "depth",
            "l2_leaf_reg",
            "random_strength",
            "bagging_temperature",
            "rsm",
            "loss_function",
        )
        settings: dict[str, Any] = {name: self.config[name] for name in names if name in self.config}
        if "loss_function" not in settings:
            settings["loss_function"] = "MultiClass" if y.max() > 1 else "Logloss"
        settings |= {
            "bootstrap_type": "Bayesian",
            "random_seed": self.seed,
            "thread_count": self.n_threads,
            "allow_writing_files": False,
            "verbose": False,
        }
        held_out = None
        if training.validation is None:
            settings["iterations"] = training.rounds or rounds_without_stopping(settings["learning_rate"])
        else:
            settings |= {
                "iterations": max_rounds(1 if "loss_function" in self.config else int(y.max()) + 1),
                "early_stopping_rounds": self.config["early_stopping_rounds"],
            }
            held_out = self._pool(*training.validation)
        kind = CatBoostRegressor if "loss_function" in self.config else CatBoostClassifier
        # Without a limit there is nothing to ask after each round.
        timers = [_StopInTime(training, settings["iterations"])] if training.allowance.is_limited else None
        self.model_ = kind(**settings).fit(self._pool(Z, y, training.weight), eval_set=held_out, callbacks=timers)
        self.rounds_ = int(self.model_.tree_count_)

    def predict(self, Z: Matrix) -> Vector:
        result: Vector = self.model_.predict(self._pool(Z, None, None), thread_count=self.n_threads)
        return result

    def predict_proba(self, Z: Matrix) -> Matrix:
        result: Matrix = self.model_.predict_proba(self._pool(Z, None, None), thread_count=self.n_threads)
        return result

    def contributions(self, Z: Matrix) -> Matrix:
        pool = self._pool(Z, None, None)
        parts: Any = self.model_.get_feature_importance(pool, type="ShapValues", thread_count=self.n_threads)
        return np.asarray(parts, dtype=np.float64).reshape(len(Z), -1, Z.shape[1] + 1).transpose(0, 2, 1)

    def _pool(self, Z: Matrix, y: Vector | None, weight: Vector | None) -> Any:
        from catboost import Pool

        if not self.categorical_.any():
            return Pool(Z, y, weight=weight, thread_count=self.n_threads)
        # CatBoost takes category codes as whole numbers only; an unseen level is -1.
        columns = {
            i: np.nan_to_num(column, nan=-1).astype(np.int64) if is_category else column
            for i, (column, is_category) in enumerate(zip(Z.T, self.categorical_, strict=True))
        }
        cat_features = np.flatnonzero(self.categorical_).tolist()
        return Pool(pd.DataFrame(columns), y, weight=weight, cat_features=cat_features, thread_count=self.n_threads)


class _StopInTime:
    """A callback that ends training when there is no time for another round; CatBoost returns to its best one."""

    def __init__(self, training: Training, n_rounds: int) -> None:
        self._rounds = Rounds(training.allowance)
        self._n_rounds = n_rounds

    def after_iteration(self, info: Any) -> bool:
        """Return whether to go on."""
        return info.iteration >= self._n_rounds or self._rounds.may_go_on()


def _take_model(model: Any) -> State:
    return as_bytes(model._serialize_model())


def _make_model(trial: str, kind: type, state: State) -> Any:
    from metaml.algorithms.formats.catboost_cbm import checked_model

    blob = checked_model(state["content"].tobytes())
    # A trial as well: CatBoost may crash on what the check does not look at.
    if not survives(f"{__name__}:{trial}", blob):
        raise ValueError("CatBoost cannot read its model")
    model: Any = kind()
    model.load_model(blob=blob)
    return model


def try_classifier(blob: bytes) -> None:
    """Load a classifier and predict with it; the process may crash."""
    from catboost import CatBoostClassifier

    _try_model(CatBoostClassifier(), blob)


def try_regressor(blob: bytes) -> None:
    """Load a regressor and predict with it; the process may crash."""
    from catboost import CatBoostRegressor

    _try_model(CatBoostRegressor(), blob)


def _try_model(model: Any, blob: bytes) -> None:
    """Load a model and predict rows of extreme values with it."""
    model.load_model(blob=blob)
    n_columns, categorical = len(model.feature_names_), set(model.get_cat_feature_indices())
    for value in (-1e30, -1.0, 0.0, 1.0, 1e30, np.nan):
        row = ["-1" if place in categorical else value for place in range(n_columns)]
        model.predict([row], thread_count=1)


ALGORITHM = Algorithm(
    "catboost",
    space,
    build,
    library="catboost",
    modules=("catboost", "sklearn.base"),
    is_extra=True,
    first_turn=4,
    for_many_rows={"depth": 8, "learning_rate": 0.08},
    saves=(
        TrustedClass("catboost", "metaml.algorithms.catboost:_CatBoost"),
        TrustedClass(
            "CatBoostClassifier",
            "catboost:CatBoostClassifier",
            take=_take_model,
            make=partial(_make_model, "try_classifier"),
        ),
        TrustedClass(
            "CatBoostRegressor",
            "catboost:CatBoostRegressor",
            take=_take_model,
            make=partial(_make_model, "try_regressor"),
        ),
    ),
)
