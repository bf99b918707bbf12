"""Training keeps its best epoch and ends in time."""

import numpy as np

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Training
from metaml.algorithms.neural.inputs import Inputs
from metaml.algorithms.neural.network import Shape, started
from metaml.algorithms.neural.training import Plan, held_out_error, train_network

PLAN = Plan(epochs=20, batch=32, dropout=0.0, learning_rate=0.03, weight_decay=0.0)


class Clock:
    """Says that each look takes a second."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        self.seconds += 1.0
        return self.seconds


def trained(*, validation=True, rounds=None, seconds=None, plan=PLAN):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(160, 3)).astype(np.float32)
    y = (Z[:, 0] + 0.5 * rng.normal(size=160)).astype(np.float32)
    held_out = (Z[128:], y[128:], None) if validation else None
    allowance = Allowance(seconds, clock=Clock())
    training = Training(
        weight=None, n_rows=128, categorical=np.zeros(3, bool), validation=held_out, rounds=rounds, allowance=allowance
    )
    shape = Shape(n_inputs=3, n_outputs=1, n_members=2, n_layers=2, width=16)
    network = started(Z[:128], Inputs(Z, 1), shape, np.zeros(1), rng)
    epochs = train_network(network, Z[:128], y[:128], training, plan, rng)
    return network, epochs, training, (Z[128:], y[128:], None)


def test_the_best_epoch_is_kept():
    network, epochs, training, held_out = trained()
    longer, _, _, _ = trained(validation=False, rounds=epochs)
    last, _, _, _ = trained(validation=False)

    assert 1 <= epochs < PLAN.for_rows(128).epochs
    assert np.array_equal(network.parameters, longer.parameters)
    assert held_out_error(network, held_out) < held_out_error(last, held_out)
    assert not training.allowance.ended_training


def test_where_time_is_short_the_whole_schedule_is_walked_in_larger_steps():
    network, epochs, training, held_out = trained(seconds=40.0)
    idle, _, _, _ = trained(seconds=0.0)

    assert training.allowance.ended_training
    assert training.allowance.used < 45
    assert epochs < 20
    assert held_out_error(network, held_out) < held_out_error(idle, held_out)
