"""XGBoost (Chen and Guestrin 2016): trees stopped early, trees with dropout (dart), or a linear booster."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.allowance import Rounds
from metaml.algorithms.base import Algorithm, Booster, Matrix, PlainLearner, Training, Vector
from metaml.algorithms.boosting import (
    FIXED_ROUNDS,
    boosted,
    max_rounds,
    rounds_without_stopping,
    share_of_columns,
    stopping_parameters,
    two_columns,
)
from metaml.algorithms.flat_trees import MOST_ROWS
from metaml.algorithms.preprocessing import Head, encoding_parameters, head_from
from metaml.algorithms.trusted_classes import State, TrustedClass, as_bytes
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task

_TREES = ("booster", ("gbtree", "dart"))
_DART = ("booster", ("dart",))
_LINEAR_LEVELS = 16


@cache
def space(task: Task) -> Space:
    """Return the space of XGBoost; ranges follow Coors (2018), table 7, and the random bot's.

    Lasso penalties above 32 and minimum gains above 16 prune every tree and are not tried.

    Dropout changes earlier trees, so dart cannot go back to its best round: its number of rounds is a
    parameter. The linear booster always gets imputed, standardised, one-hot columns.
    """
    own: list[Parameter] = (
        [
            Choice(
                "objective",
                ("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"),
                default="reg:squarederror",
            )
        ]
        if task == "regression"
        else [Choice("class_weight", (None, "balanced"), default=None)]
    )
    return Space(
        [
            Choice("booster", ("gbtree", "dart", "gblinear"), default="gbtree"),
            Float("learning_rate", 0.01, 0.5, default=0.1, log=True),
            Integer("max_depth", 1, 15, default=5, when=_TREES),
            Float("min_child_weight", 1.0, 128.0, default=1.0, log=True, when=_TREES),
            Float("gamma", 0.0078125, 16.0, default=0.0078125, log=True, when=_TREES),
            Float("subsample", 0.3, 1.0, default=0.8, when=_TREES),
            Float("colsample_bytree", 0.2, 1.0, default=0.7, when=_TREES),
            Float("colsample_bylevel", 0.2, 1.0, default=1.0, when=_TREES),
            Float("lambda", 0.0009765625, 1024.0, default=1.0, log=True),
            Float("alpha", 0.0009765625, 32.0, default=0.0009765625, log=True),
            Integer("n_rounds", 20, 200, default=100, log=True, when=_DART),
            Float("rate_drop", 0.01, 0.5, default=0.1, log=True, when=_DART),
            Float("skip_drop", 0.0, 0.9, default=0.5, when=_DART),
            *own,
            *stopping_parameters(when=("booster", ("gbtree", "gblinear"))),
            *encoding_parameters("native", native=True, when=_TREES),
        ]
    )


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted booster for `config`; trees deal with missing numbers themselves."""
    space(task).check(config)
    if config["booster"] == "gblinear":
        head = Head(encoding="one_hot", max_levels=_LINEAR_LEVELS, imputation="median", scaling="standard", seed=seed)
    else:
        head = head_from(config, seed=seed)
    model = _XGBoost(config, seed=seed, n_threads=n_threads)
    return boosted(config, head, model, task=task, seed=seed, n_threads=n_threads, seconds=seconds)


class _XGBoost(Booster):
    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        import xgboost

        self.feature_types_ = ["c" if flag else "q" for flag in training.categorical]
        settings = self._settings(y, training.n_rows)
        if "colsample_bytree" in settings:
            settings["colsample_bytree"] = share_of_columns(settings["colsample_bytree"], Z.shape[1])
        if training.directions:
            settings["monotone_constraints"] = training.directions
        train = self._matrix(Z, y, training.weight)
        fixed = training.rounds or self.config.get("n_rounds") or rounds_without_stopping(settings["learning_rate"])
        timer = _stop_in_time(Rounds(training.allowance))
        if training.validation is None or "n_rounds" in self.config:
            self.booster_ = xgboost.train(settings, train, fixed, verbose_eval=False, callbacks=[timer])
            self.rounds_ = timer.n_rounds
            return
        booster = xgboost.train(
            settings,
            train,
            max_rounds(settings.get("num_class", 1)),
            evals=[(self._matrix(*training.validation), "held_out")],
            early_stopping_rounds=self.config["early_stopping_rounds"],
            verbose_eval=False,
            callbacks=[timer],
        )
        self.rounds_ = int(booster.best_iteration) + 1
        # A linear booster has one set of weights, which cannot be cut back to an earlier round.
        self.booster_ = booster if self.config["booster"] == "gblinear" else booster[: self.rounds_]

    def predict(self, Z: Matrix) -> Vector:
        has_numbers_alone = self.feature_types_ is None or "c" not in self.feature_types_
        if len(Z) <= MOST_ROWS and self.config["booster"] != "gblinear" and has_numbers_alone:
            # For a few rows, making a matrix takes longer than the trees.
            few: Vector = self.booster_.inplace_predict(Z, validate_features=False)
            return few
        result: Vector = self.booster_.predict(self._matrix(Z, None, None))
        return result

    def predict_proba(self, Z: Matrix) -> Matrix:
        return two_columns(self.predict(Z))

    def contributions(self, Z: Matrix) -> Matrix:
        parts: Any = self.booster_.predict(self._matrix(Z, None, None), pred_contribs=True)
        return np.asarray(parts, dtype=np.float64).reshape(len(Z), -1, Z.shape[1] + 1).transpose(0, 2, 1)

    def _matrix(self, Z: Matrix, y: Vector | None, weight: Vector | None) -> Any:
        import xgboost

        return xgboost.DMatrix(
            Z,
            y,
            weight=weight,
            feature_types=self.feature_types_,
            enable_categorical=True,
            nthread=self.n_threads,
        )

    def _settings(self, y: Vector, n_rows: float) -> dict[str, Any]:
        ours = (
            "early_stopping_rounds",
            "validation_fraction",
            "refit",
            "encoding",
            "max_levels",
            "class_weight",
            "n_rounds",
        )
        settings: dict[str, Any] = {name: value for name, value in self.config.items() if name not in ours}
        if "objective" not in settings:
            if y.max() > 1:
                settings |= {"objective": "multi:softprob", "num_class": int(y.max()) + 1}
            else:
                settings["objective"] = "binary:logistic"
        if settings["booster"] == "gblinear":
            settings["updater"] = "coord_descent"  # the default updates in parallel and differs from run to run
            # This booster multiplies its penalties by the number of rows, trees do not.
            settings |= {name: settings[name] / n_rows for name in ("lambda", "alpha")}
        else:
            settings["tree_method"] = "hist"
        return settings | {"seed": self.seed, "nthread": self.n_threads, "verbosity": 0}


def _stop_in_time(rounds: Rounds) -> Any:
    """Return a callback that counts the rounds and ends training when there is no time for another one."""
    import xgboost

    class StopInTime(xgboost.callback.TrainingCallback):
        n_rounds = 0

        # Before a round: after the last one, XGBoost would skip its own early stopping.
        def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:  # noqa: ARG002
            may_go_on = self.n_rounds == 0 or rounds.may_go_on()
            self.n_rounds += may_go_on
            return not may_go_on

    return StopInTime()


def _take_booster(booster: Any) -> State:
    return as_bytes(booster.save_raw("ubj"))


def _make_booster(kind: type, state: State) -> Any:
    from metaml.algorithms.formats.xgboost_ubj import checked_model

    checked_model(state["content"].tobytes())
    booster = kind({"nthread": 1, "verbosity": 0})
    booster.load_model(bytearray(state["content"].tobytes()))
    booster.set_param({"nthread": 1, "verbosity": 0})
    return booster


def plain(config: Config, task: Task, n_columns: int) -> PlainLearner:  # noqa: ARG001
    """Return XGBoost's estimator, with a fixed number of rounds."""
    ours = ("early_stopping_rounds", "validation_fraction", "refit", "encoding", "max_levels", "class_weight")
    left_out = (*ours, "n_rounds", "lambda", "alpha")
    settings: dict[str, Any] = {name: value for name, value in config.items() if name not in left_out}
    settings |= {"reg_lambda": config["lambda"], "reg_alpha": config["alpha"]}
    rounds = config.get("n_rounds") or rounds_without_stopping(settings["learning_rate"])
    kind = "XGBRegressor" if task == "regression" else "XGBClassifier"
    # The gradient of an absolute error has no unit, the others have that of the target, and a gain has its square.
    powers = {"reg_alpha": 1, "gamma": 2, "huber_slope": 1}
    if settings.get("objective") == "reg:pseudohubererror":
        settings["huber_slope"] = 1.0
    elif settings.get("objective") != "reg:squarederror":
        powers = {}
    return PlainLearner("xgboost", kind, settings | {"n_estimators": rounds}, note=FIXED_ROUNDS, target_powers=powers)


ALGORITHM = Algorithm(
    "xgboost",
    space,
    build,
    library="xgboost",
    modules=("xgboost",),
    first_turn=2,
    first_turn_if_wide=4,
    first_turn_if_slow=2,
    one_way={"booster": ("gbtree", "dart"), "objective": ("reg:squarederror", "reg:pseudohubererror")},
    for_many_rows={"max_depth": 9, "learning_rate": 0.05, "min_child_weight": 2.0},
    saves=(
        TrustedClass("xgboost", "metaml.algorithms.xgboost:_XGBoost"),
        TrustedClass("XGBoostBooster", "xgboost:Booster", take=_take_booster, make=_make_booster),
    ),
    plain=plain,
)
