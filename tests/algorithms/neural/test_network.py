"""A network starts where training can begin, and predicts what its members say."""

import numpy as np
import pytest

from metaml.algorithms.neural.inputs import Inputs
from metaml.algorithms.neural.network import Shape, silu, started


def new_network(n_outputs=1, **sizes):
    rng = np.random.default_rng(0)
    Z = (rng.normal(size=(300, 4)) * [1, 1e-3, 1, 0]).astype(np.float32)
    inputs = Inputs(Z, 4)
    shape = Shape(
        **{"n_members": 3, "n_layers": 2, "width": 8, **sizes}, n_inputs=4 + inputs.n_added, n_outputs=n_outputs
    )
    return started(Z, inputs, shape, np.linspace(-1, 1, n_outputs), rng), Z


def test_the_slope_of_the_activation_is_that_of_its_values():
    x = np.linspace(-6, 6, 61)
    values, slope = x.astype(np.float32), np.empty(61, dtype=np.float32)

    silu(values, slope)

    assert values == pytest.approx(x / (1 + np.exp(-x)), abs=1e-5)
    assert slope == pytest.approx(np.gradient(x / (1 + np.exp(-x)), x, edge_order=2), abs=5e-3)


def test_before_training_every_row_has_the_same_prediction():
    network, Z = new_network(n_outputs=3)

    assert network.mean(Z) == pytest.approx(np.tile([-1.0, 0.0, 1.0], (300, 1)))
    assert network.chances(Z).sum(axis=1) == pytest.approx(np.ones(300))


def test_the_vector_of_parameters_is_the_parts_and_nothing_else():
    network, _ = new_network(n_layers=3)
    parts = network.shape.parts(network.parameters)

    assert sum(part.size for part in parts.values()) == network.shape.n_parameters == len(network.parameters)
    assert all(np.shares_memory(part, network.parameters) for part in parts.values())


def test_neurons_start_with_one_deviation_whatever_the_scale_of_columns():
    network, Z = new_network(n_layers=1, width=64)
    parts = network.shape.parts(network.parameters)
    inputs = network.inputs.of(Z)

    values = inputs @ (parts["scale"] * parts["weight1"]) / np.sqrt(inputs.shape[1])

    assert values.std(axis=(0, 1)) == pytest.approx(np.ones(64), rel=1e-3)
    bends = values + parts["bias1"]
    assert np.abs(bends).min(axis=1).max() == pytest.approx(0, abs=1e-4)


def test_many_rows_are_predicted_in_blocks_with_the_same_result():
    network, Z = new_network()
    network.parameters[:] += 0.1
    many = np.tile(Z, (8, 1))

    assert network.outputs(many)[:, :300] == pytest.approx(network.outputs(Z), abs=1e-5)
    assert network.outputs(many).shape == (3, 2400, 1)
