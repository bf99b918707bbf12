"""The gradient of the loss of a batch of rows, by backpropagation, in buffers that are used again for each batch."""

from __future__ import annotations

import numpy as np

from metaml.algorithms.base import Matrix, Vector
from metaml.algorithms.neural.network import WEIGHTS, Network, Parts, shrunk, silu, softmax

_MASKS = 4
"""Dropout takes its masks from one long vector, at random places; it is so many times as long as a mask."""


class Gradients:
    """Gradients of the mean loss of each member, added up: log loss, or squared error if there are no classes.

    `of_batch` fills `vector`. Memory that is asked for anew costs more than the arithmetic here, so it is kept.
    """

    def __init__(
        self, network: Network, *, batch: int, dropout: float, is_classification: bool, rng: np.random.Generator
    ) -> None:
        shape = network.shape
        size = (shape.n_members, batch, shape.width)
        self.vector: Matrix = np.zeros(shape.n_parameters, dtype=np.float32)
        self._network = network
        self._parts, self._gradient = shape.parts(network.parameters), shape.parts(self.vector)
        self._is_classification = is_classification
        self._values, self._slopes = (
            [np.empty(size, dtype=np.float32) for _ in range(shape.n_layers)] for _ in range(2)
        )
        self._error, self._other = (np.empty(size, dtype=np.float32) for _ in range(2))
        self._both: Matrix = np.empty((shape.n_members, shape.n_inputs, shape.width), dtype=np.float32)
        self._weights = tuple(name for name in shape.sizes if name.startswith(WEIGHTS))
        self._shrunk: Parts = {}
        self._rng = rng
        self._masks: Matrix | None = None
        if dropout > 0:
            kept = rng.random(_MASKS * self._error.size, dtype=np.float32) >= dropout
            self._masks = kept * np.float32(1 / (1 - dropout))

    def of_batch(self, Z: Matrix, y: Vector, weight: Vector | None) -> None:
        """Fill `vector` for as many rows as the buffers were made for; their mean weight should be 1."""
        inputs = self._network.inputs.of(Z)
        outputs = self._forward(inputs) @ self._shrunk["output"]
        outputs += self._parts["shift"]
        if self._is_classification:
            softmax(outputs)[:, np.arange(len(y)), y] -= 1
        else:
            outputs -= y[:, np.newaxis]
        outputs *= np.float32(1 / len(y)) if weight is None else (weight / len(y)).astype(np.float32)[:, np.newaxis]
        self._backward(outputs, inputs)

    def _forward(self, inputs: Matrix) -> Matrix:
        """Return what the last hidden layer says; keep what all layers say, and their slopes."""
        self._shrunk = {name: shrunk(self._parts, name) for name in self._weights}
        below = inputs
        for number, (values, slope) in enumerate(zip(self._values, self._slopes, strict=True), start=1):
            np.matmul(below, self._shrunk[f"weight{number}"], out=values)
            values += self._parts[f"bias{number}"]
            silu(values, slope)
            if self._masks is not None:
                begin = int(self._rng.integers(len(self._masks) - values.size))
                mask = self._masks[begin : begin + values.size].reshape(values.shape)
                values *= mask
                slope *= mask
            below = values
        return below

    def _backward(self, outputs: Matrix, inputs: Matrix) -> None:
        """Walk from the error of the outputs down to the inputs."""
        parts, found = self._parts, self._gradient
        found["shift"][:] = outputs.sum(axis=1, keepdims=True)
        np.matmul(self._values[-1].transpose(0, 2, 1), outputs, out=found["output"])
        error, other = self._error, self._other
        np.matmul(outputs, self._shrunk["output"].transpose(0, 2, 1), out=error)
        for number in range(len(self._values), 0, -1):
            error *= self._slopes[number - 1]
            found[f"bias{number}"][:] = error.sum(axis=1, keepdims=True)
            if number > 1:
                below = self._values[number - 2]
                np.matmul(below.transpose(0, 2, 1), error).sum(axis=0, out=found[f"weight{number}"])
                np.matmul(error, self._shrunk[f"weight{number}"].T, out=other)
                error, other = other, error
        # The weights of a member are scale · weight, so one product has the gradients of both.
        both = np.matmul(inputs.T, error, out=self._both)
        np.einsum("kij,ij->ki", both, parts["weight1"], out=found["scale"][:, :, 0])
        found["scale"] *= np.float32(self._network.shape.n_inputs**-0.5)
        np.einsum("kij,ki->ij", both, parts["scale"][:, :, 0], out=found["weight1"])
        for name in self._weights:
            found[name] *= np.float32(found[name].shape[-2] ** -0.5)
