"""A few small networks in one: they share their weights, and each has scales, biases and outputs of its own.

After TabM (Gorishniy et al. 2025, its smallest variant). Each member scales the inputs in its own way before the first
layer, beginning with random signs. Weights have the neural tangent parametrisation of RealMLP (Holzmüller et al. 2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from metaml.algorithms.base import Matrix
from metaml.algorithms.neural.inputs import Inputs

Parts = dict[str, Matrix]
"""The parameters of a network by name, or their gradients: views of one vector."""
WEIGHTS = ("weight", "output")
"""How the names of weights begin; the other parameters are scales and biases."""
_ROWS_AT_ONCE = 1024
_ROWS_FOR_START = 512
_LEAST_DEVIATION = 0.01


@dataclass(frozen=True)
class Shape:
    """How large a network is."""

    n_inputs: int
    n_outputs: int
    n_members: int
    n_layers: int
    width: int

    @property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Return the size of each group of parameters, in their order."""
        members, width = self.n_members, self.width
        hidden = range(2, self.n_layers + 1)
        return {
            "scale": (members, self.n_inputs, 1),
            **_layer(1, members, self.n_inputs, width),
            **{name: size for k in hidden for name, size in _layer(k, members, width, width).items()},
            "output": (members, width, self.n_outputs),
            "shift": (members, 1, self.n_outputs),
        }

    @property
    def n_parameters(self) -> int:
        """Return how many parameters there are."""
        return sum(math.prod(size) for size in self.sizes.values())

    def parts(self, vector: Matrix) -> Parts:
        """Return a vector as parameters by name."""
        found, begin = {}, 0
        for name, size in self.sizes.items():
            end = begin + math.prod(size)
            found[name] = vector[begin:end].reshape(size)
            begin = end
        return found


def _layer(number: int, members: int, n_inputs: int, width: int) -> dict[str, tuple[int, ...]]:
    return {f"weight{number}": (n_inputs, width), f"bias{number}": (members, 1, width)}


def shrunk(parts: Parts, name: str) -> Matrix:
    """Return weights over the root of the number of their inputs; the first ones are scaled for each member."""
    part = parts[name]
    result: Matrix = part * np.float32(part.shape[-2] ** -0.5)
    return parts["scale"] * result if name == "weight1" else result


def silu(values: Matrix, slope: Matrix | None = None) -> None:
    """Replace values by x · sigmoid(x), and fill `slope` with the derivative.

    >>> values = np.array([0.0, 20.0], dtype=np.float32)
    >>> silu(values)
    >>> values.tolist()
    [0.0, 20.0]
    """
    gate = np.negative(values) if slope is None else np.negative(values, out=slope)
    np.exp(gate, out=gate)
    gate += 1
    np.reciprocal(gate, out=gate)
    if slope is None:
        values *= gate
        return
    product = values * gate
    # sigmoid · (1 + x · (1 - sigmoid)), where `slope` is the sigmoid so far
    values -= product
    values += 1
    slope *= values
    np.copyto(values, product)


@dataclass(frozen=True, eq=False)
class Network:
    """The networks as they predict: inputs, shape and all parameters in one vector."""

    inputs: Inputs
    shape: Shape
    parameters: Matrix

    def outputs(self, Z: Matrix) -> Matrix:
        """Return the outputs of each member, members × rows × outputs."""
        parts = self.shape.parts(self.parameters)
        blocks = [self._block(Z[at : at + _ROWS_AT_ONCE], parts) for at in range(0, max(len(Z), 1), _ROWS_AT_ONCE)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)

    def mean(self, Z: Matrix) -> Matrix:
        """Return the mean output of the members, rows × outputs."""
        result: Matrix = self.outputs(Z).mean(axis=0)
        return result

    def chances(self, Z: Matrix) -> Matrix:
        """Return the mean probability of each class over the members."""
        result: Matrix = softmax(self.outputs(Z)).mean(axis=0)
        return result

    def _block(self, Z: Matrix, parts: Parts) -> Matrix:
        values = self.inputs.of(Z)
        for number in range(1, self.shape.n_layers + 1):
            values = values @ shrunk(parts, f"weight{number}")
            values += parts[f"bias{number}"]
            silu(values)
        result: Matrix = values @ shrunk(parts, "output") + parts["shift"]
        return result


def softmax(outputs: Matrix) -> Matrix:
    """Return probabilities along the last axis; `outputs` is overwritten."""
    outputs -= outputs.max(axis=-1, keepdims=True)
    np.exp(outputs, out=outputs)
    outputs /= outputs.sum(axis=-1, keepdims=True)
    return outputs


def started(Z: Matrix, inputs: Inputs, shape: Shape, shift: Matrix, rng: np.random.Generator) -> Network:
    """Return a network that predicts `shift` for every row.

    Weights are such that each neuron has deviation 1 on the training rows, biases such that it bends at one of them.
    """
    parameters = np.zeros(shape.n_parameters, dtype=np.float32)
    parts = shape.parts(parameters)
    parts["scale"][:] = rng.choice(np.array([-1, 1], dtype=np.float32), parts["scale"].shape)
    parts["shift"][:] = shift
    values = inputs.of(Z[rng.choice(len(Z), min(len(Z), _ROWS_FOR_START), replace=False)])
    for number in range(1, shape.n_layers + 1):
        weight = parts[f"weight{number}"]
        weight[:] = rng.standard_normal(weight.shape, dtype=np.float32)
        values = values @ shrunk(parts, f"weight{number}")
        deviation = np.maximum(values.std(axis=(0, 1)), _LEAST_DEVIATION)
        weight /= deviation
        values /= deviation
        bias = parts[f"bias{number}"]
        bias[:] = -np.take_along_axis(values, rng.integers(values.shape[1], size=bias.shape), axis=1)
        values = values + bias
        silu(values)
    return Network(inputs, shape, parameters)
