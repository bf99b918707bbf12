"""Gradients agree with differences of the loss."""

import numpy as np
import pytest

from metaml.algorithms.neural.gradients import Gradients
from metaml.algorithms.neural.inputs import Inputs
from metaml.algorithms.neural.network import Network, Shape, started


def problem(n_outputs, n_layers=3):
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(24, 3)).astype(np.float32)
    inputs = Inputs(Z, 4)
    shape = Shape(n_inputs=3 + inputs.n_added, n_outputs=n_outputs, n_members=2, n_layers=n_layers, width=5)
    network = started(Z, inputs, shape, np.zeros(n_outputs), rng)
    # The output starts at zero, which hides the layers below.
    network.parameters[:] += 0.3 * rng.standard_normal(shape.n_parameters, dtype=np.float32)
    return network, Z, rng


def loss(network, Z, y, weight):
    """The mean weighted loss of each member, added up."""
    outputs = network.outputs(Z).astype(np.float64)
    if y.dtype.kind == "i":
        outputs -= outputs.max(axis=2, keepdims=True)
        losses = np.log(np.exp(outputs).sum(axis=2)) - outputs[:, np.arange(len(y)), y]
    else:
        losses = (outputs[:, :, 0] - y) ** 2 / 2
    return float((losses * weight).mean(axis=1).sum())


@pytest.mark.parametrize("n_layers", [1, 3])
@pytest.mark.parametrize("n_classes", [None, 3])
def test_a_gradient_is_the_slope_of_the_loss(n_classes, n_layers):
    network, Z, rng = problem(n_classes or 1, n_layers)
    y = rng.normal(size=24).astype(np.float32) if n_classes is None else rng.integers(n_classes, size=24)
    weight = rng.integers(1, 4, size=24) / 2
    gradients = Gradients(network, batch=24, dropout=0.0, is_classification=n_classes is not None, rng=rng)
    step = 2e-2

    gradients.of_batch(Z, y, weight)

    for place in rng.choice(len(network.parameters), 60, replace=False):
        sides = []
        for side in (-step, step):
            parameters = network.parameters.copy()
            parameters[place] += side
            sides.append(loss(Network(network.inputs, network.shape, parameters), Z, y, weight))
        assert gradients.vector[place] == pytest.approx((sides[1] - sides[0]) / (2 * step), abs=2e-3, rel=1e-2)


def test_dropout_keeps_the_mean_of_the_gradient():
    network, Z, rng = problem(1, n_layers=1)
    y = rng.normal(size=24).astype(np.float32)
    plain = Gradients(network, batch=24, dropout=0.0, is_classification=False, rng=rng)
    dropping = Gradients(network, batch=24, dropout=0.3, is_classification=False, rng=rng)
    shift = network.shape.parts(plain.vector)["shift"]
    found = []

    plain.of_batch(Z, y, None)
    for _ in range(300):
        dropping.of_batch(Z, y, None)
        found.append(network.shape.parts(dropping.vector)["shift"].copy())

    assert np.mean(found, axis=0) == pytest.approx(shift, abs=0.05)
    assert np.std(found, axis=0).min() > 0.001
