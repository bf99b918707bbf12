"""Small neural networks that share their weights, trained in the manner of RealMLP.

Holzmüller, Grinsztajn and Steinwart (2024), "Better by default"; Gorishniy, Kotelnikov and Babenko (2025), "TabM";
Gorishniy, Rubachev and Babenko (2022), "On embeddings for numerical features".
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from metaml.algorithms.base import Algorithm, Booster, Matrix, Training, Vector
from metaml.algorithms.boosting import REFIT, boosted
from metaml.algorithms.neural.inputs import Inputs
from metaml.algorithms.neural.network import Network, Shape, started
from metaml.algorithms.neural.training import Plan, train_network
from metaml.algorithms.preprocessing import (
    encoding_parameters,
    head_from,
    imputation_parameter,
    scaling_parameter,
)
from metaml.algorithms.trusted_classes import State, TrustedClass, filled
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task


@cache
def space(task: Task) -> Space:
    """Return the space of the networks; `n_bins` below 3 leaves numbers as they are."""
    parameters: list[Parameter] = [
        Integer("n_members", 1, 8, default=4, log=True),
        Integer("n_layers", 1, 3, default=2),
        Integer("width", 32, 256, default=128, log=True),
        Integer("n_bins", 1, 32, default=16, log=True),
        Float("learning_rate", 3e-3, 0.1, default=0.03, log=True),
        Float("dropout", 0.0, 0.5, default=0.2),
        Float("weight_decay", 1e-4, 1.0, default=0.02, log=True),
        Integer("epochs", 16, 128, default=32, log=True),
        Integer("batch_size", 64, 512, default=256, log=True),
        Float("validation_fraction", 0.1, 0.3, default=0.1),
        Choice(REFIT, (False, True), default=False),
    ]
    if task != "regression":
        parameters.append(Choice("class_weight", (None, "balanced"), default=None))
    return Space([*parameters, imputation_parameter(), scaling_parameter("robust"), *encoding_parameters("one_hot")])


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted network for `config`: `n_members` networks of `n_layers` layers of `width` neurons."""
    space(task).check(config)
    model = _NeuralNetwork(config, seed=seed, n_threads=n_threads)
    return boosted(
        config, head_from(config, seed=seed), model, task=task, seed=seed, n_threads=n_threads, seconds=seconds
    )


class _NeuralNetwork(Booster):
    """The networks between head and prediction; targets of a regression keep to the range of the training rows."""

    network_: Network
    range_: tuple[float, float]

    def fit(self, Z: Matrix, y: Vector, training: Training) -> None:
        rng, config = np.random.default_rng(self.seed), self.config
        is_classification = "class_weight" in config
        if is_classification:
            members = np.bincount(y, training.weight)
            shift = np.log(np.maximum(members / members.sum(), 1e-6))
        else:
            y, shift = y.astype(np.float32), np.zeros(1)
            self.range_ = float(y.min()), float(y.max())
        inputs = Inputs(Z, config["n_bins"])
        shape = Shape(
            n_inputs=Z.shape[1] + inputs.n_added,
            n_outputs=len(shift),
            n_members=config["n_members"],
            n_layers=config["n_layers"],
            width=config["width"],
        )
        self.network_ = started(Z, inputs, shape, shift, rng)
        plan = Plan(
            epochs=config["epochs"],
            batch=config["batch_size"],
            dropout=config["dropout"],
            learning_rate=config["learning_rate"],
            weight_decay=config["weight_decay"],
        )
        self.rounds_ = train_network(self.network_, Z, y, training, plan, rng)

    def predict(self, Z: Matrix) -> Vector:
        result: Matrix = np.clip(self.network_.mean(Z)[:, 0], *self.range_)
        return result

    def predict_proba(self, Z: Matrix) -> Matrix:
        return self.network_.chances(Z)


def make_network(kind: type, state: State) -> Network:
    """Return a network of a file whose parameters fit its shape."""
    network: Network = filled(kind, state)
    parameters = network.parameters
    if parameters.dtype != np.float32 or parameters.shape != (network.shape.n_parameters,):
        raise ValueError("a network has other parameters than it says")
    return network


ALGORITHM = Algorithm(
    "neural_network",
    space,
    build,
    modules=("sklearn.preprocessing",),
    saves=(
        TrustedClass("neural_network", "metaml.algorithms.neural.neural_network:_NeuralNetwork"),
        TrustedClass("Network", "metaml.algorithms.neural.network:Network", make=make_network),
        TrustedClass("Shape", "metaml.algorithms.neural.network:Shape"),
        TrustedClass("Inputs", "metaml.algorithms.neural.inputs:Inputs"),
    ),
    least_budget=120.0,
)
