"""A multilayer perceptron on scaled columns, stopped early."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.allowance import Rounds
from metaml.algorithms.base import Algorithm, Booster, Matrix, Training, Vector
from metaml.algorithms.boosting import boosted, stopping_parameters
from metaml.algorithms.preprocessing import (
    encoding_parameters,
    head_from,
    imputation_parameter,
    scaling_parameter,
)
from metaml.algorithms.trusted_classes import TrustedClass
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task

_MAX_EPOCHS = 200
_EPOCHS_WITHOUT_STOPPING = 100


@cache
def space(task: Task) -> Space:
    """Return the space of the perceptron; learning rates above 0.03 diverge too often to be worth a try."""
    parameters: list[Parameter] = [
        Integer("n_layers", 1, 3, default=2),
        Integer("width", 16, 256, default=128, log=True),
        Choice("activation", ("relu", "tanh"), default="relu"),
        Float("alpha", 1e-7, 1.0, default=1e-3, log=True),
        Float("learning_rate", 1e-4, 0.03, default=2e-3, log=True),
        Integer("batch_size", 32, 256, default=32, log=True),
    ]
    if task != "regression":
        parameters.append(Choice("class_weight", (None, "balanced"), default=None))
    return Space(
        [
            *parameters,
            *stopping_parameters(),
            imputation_parameter(),
            scaling_parameter("robust"),
            *encoding_parameters("one_hot"),
        ]
    )


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted perceptron for `config`; `width` neurons in each of `n_layers` layers."""
    space(task).check(config)
    model = _Perceptron(config, seed=seed, n_threads=n_threads)
    return boosted(
        config, head_from(config, seed=seed), model, task=task, seed=seed, n_threads=n_threads, seconds=seconds
    )


class _Perceptron(Booster):
    """scikit-learn's perceptron, trained epoch by epoch like a booster.

    Its own early stopping watches accuracy, which says nothing while a rare class is being learnt; here the
    loss on the held-out rows decides, and the weights of the best epoch are kept.
    """

    @property
    def is_classification(self) -> bool:
        """Return whether there are classes to predict: only then do they have weights."""
        return "class_weight" in self.config

    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        self.model_ = self._model(len(Z))
        patience = self.config["early_stopping_rounds"]
        validation = training.validation
        epochs = _MAX_EPOCHS if validation is not None else training.rounds or _EPOCHS_WITHOUT_STOPPING
        best_loss, best_weights, self.rounds_ = np.inf, None, 0
        timer = Rounds(training.allowance)
        for epoch in range(1, epochs + 1):
            try:
                self._train_one_epoch(Z, y, training.weight)
                loss = -float(epoch) if validation is None else self._loss(*validation)
            except ValueError as error:
                if "non-finite" not in str(error) or best_weights is None:
                    raise
                break
            if loss < best_loss:
                best_loss, self.rounds_ = loss, epoch
                best_weights = [w.copy() for w in (*self.model_.coefs_, *self.model_.intercepts_)]
            elif epoch - self.rounds_ >= patience:
                break
            if epoch < epochs and not timer.may_go_on():
                break
        if best_weights is not None:
            n_layers = len(self.model_.coefs_)
            self.model_.coefs_, self.model_.intercepts_ = best_weights[:n_layers], best_weights[n_layers:]

    def predict(self, Z: Matrix) -> Vector:
        result: Vector = self.model_.predict(Z)
        return result

    def predict_proba(self, Z: Matrix) -> Matrix:
        result: Matrix = self.model_.predict_proba(Z)
        return result

    def _model(self, n_rows: int) -> Any:
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        kind = MLPClassifier if self.is_classification else MLPRegressor
        return kind(
            hidden_layer_sizes=(self.config["width"],) * self.config["n_layers"],
            activation=self.config["activation"],
            alpha=self.config["alpha"],
            learning_rate_init=self.config["learning_rate"],
            batch_size=min(self.config["batch_size"], n_rows),
            random_state=self.seed,
        )

    def _train_one_epoch(self, Z: Matrix, y: Vector, weight: Vector | None) -> None:
        if self.is_classification:
            self.model_.partial_fit(Z, y, sample_weight=weight, classes=np.arange(int(y.max()) + 1))
        else:
            self.model_.partial_fit(Z, y, sample_weight=weight)

    def _loss(self, Z: Matrix, y: Vector, weight: Vector | None) -> float:
        if self.is_classification:
            chances = self.model_.predict_proba(Z)[np.arange(len(y)), y]
            return float(np.average(-np.log(np.maximum(chances, 1e-12)), weights=weight))
        return float(np.average((self.model_.predict(Z) - y) ** 2, weights=weight))


_PERCEPTRON = partial(TrustedClass, forget=("_random_state", "_optimizer", "loss_curve_"))

ALGORITHM = Algorithm(
    "mlp",
    space,
    build,
    modules=("sklearn.neural_network",),
    saves=(
        TrustedClass("mlp", "metaml.algorithms.mlp:_Perceptron"),
        _PERCEPTRON("MLPClassifier", "sklearn.neural_network:MLPClassifier"),
        _PERCEPTRON("MLPRegressor", "sklearn.neural_network:MLPRegressor"),
        TrustedClass("LabelBinarizer", "sklearn.preprocessing:LabelBinarizer"),
    ),
)
