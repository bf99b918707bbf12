"""Training of a network: batches for a number of epochs, and the best of them by held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Matrix, Training, Validation, Vector
from metaml.algorithms.neural.gradients import Gradients
from metaml.algorithms.neural.network import Network
from metaml.algorithms.neural.optimizer import Adam

_FEWEST_STEPS = 300
_LEAST_BATCH = 16
_BATCHES_PER_EPOCH = 8
_STEPS_PER_PART = 16
"""So often is the clock looked at."""


@dataclass(frozen=True)
class Plan:
    """How a network is trained."""

    epochs: int
    batch: int
    dropout: float
    learning_rate: float
    weight_decay: float

    def for_rows(self, n: int) -> Plan:
        """Return the plan for so many rows: with few, smaller batches and more epochs, so that there are enough steps.

        >>> plan = Plan(epochs=30, batch=256, dropout=0.0, learning_rate=0.03, weight_decay=0.0)
        >>> [(found.batch, found.epochs) for found in map(plan.for_rows, (100, 1000, 10000))]
        [(16, 50), (125, 37), (256, 30)]
        """
        batch = min(self.batch, n, max(_LEAST_BATCH, n // _BATCHES_PER_EPOCH))
        epochs = max(self.epochs, _FEWEST_STEPS // (n // batch))
        return Plan(epochs, batch, self.dropout, self.learning_rate, self.weight_decay)


class _Pace:
    """What share of the training is done; it goes faster where the allowance would end before the training does."""

    def __init__(self, n_steps: int, allowance: Allowance) -> None:
        self.done = 0.0
        self._n_steps, self._taken = n_steps, 0
        self._share = 1 / n_steps
        self._allowance, self._begun = allowance, allowance.used

    def step(self) -> float:
        """Count a step, and return the share that is done with it."""
        self._taken += 1
        self.done = min(1.0, self.done + self._share)
        return self.done

    def may_go_on(self) -> bool:
        """Return whether there is time for more; the rest of the training becomes as short as the time that is left."""
        allowance, rest = self._allowance, 1 - self.done
        if not allowance.is_limited or rest <= 0:
            return True
        left = allowance.left / max((allowance.used - self._begun) / self._taken, 1e-9)
        if left < rest / self._share:
            allowance.ended_training = True
            self._share = rest / max(left, 1.0)
        return left >= _STEPS_PER_PART


def train_network(
    network: Network, Z: Matrix, y: Vector, training: Training, plan: Plan, rng: np.random.Generator
) -> int:
    """Train a network for its best number of epochs, and return that."""
    plan = plan.for_rows(len(Z))
    is_classification = np.issubdtype(y.dtype, np.integer)
    weight = None if training.weight is None else training.weight / training.weight.mean()
    gradients = Gradients(network, batch=plan.batch, dropout=plan.dropout, is_classification=is_classification, rng=rng)
    adam = Adam(network.shape, learning_rate=plan.learning_rate, weight_decay=plan.weight_decay)
    n_batches = len(Z) // plan.batch
    pace = _Pace(plan.epochs * n_batches, training.allowance)
    best_loss, best, best_epoch, may_go_on = np.inf, network.parameters.copy(), 0, True
    for epoch in range(1, (training.rounds or plan.epochs) + 1):
        order = rng.permutation(len(Z))
        for number in range(n_batches):
            rows = order[number * plan.batch : (number + 1) * plan.batch]
            gradients.of_batch(Z[rows], y[rows], None if weight is None else weight[rows])
            adam.move(network.parameters, gradients.vector, pace.step())
            if (number + 1) % _STEPS_PER_PART == 0 or number + 1 == n_batches:
                may_go_on = pace.may_go_on()
            if not may_go_on or pace.done >= 1:
                break
        loss = -float(epoch) if training.validation is None else held_out_error(network, training.validation)
        if loss < best_loss and np.isfinite(network.parameters).all():
            best_loss, best_epoch = loss, epoch
            np.copyto(best, network.parameters)
        if not may_go_on or pace.done >= 1:
            break
    np.copyto(network.parameters, best)
    return max(best_epoch, 1)


def held_out_error(network: Network, validation: Validation) -> float:
    """Return the mean log loss of held-out rows, or their mean squared error if there are no classes."""
    Z, y, weight = validation
    if np.issubdtype(y.dtype, np.integer):
        chances = network.chances(Z)[np.arange(len(y)), y]
        return float(np.average(-np.log(np.maximum(chances, 1e-12)), weights=weight))
    return float(np.average((network.mean(Z)[:, 0] - y) ** 2, weights=weight))
