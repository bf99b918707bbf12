"""Adam with a step size that depends on the kind of parameter, and the schedule of the step size."""

from __future__ import annotations

import math

import numpy as np

from metaml.algorithms.base import Matrix
from metaml.algorithms.neural.network import WEIGHTS, Shape

_MOMENTUM, _MEMORY, _TINY = 0.9, 0.95, 1e-8
_CYCLES = 4
_RATES = {"scale": 6.0, "bias": 0.1, "shift": 0.1}
"""The step size relative to that of weights, as in RealMLP."""


def coslog(done: float) -> float:
    """Return the relative step size when a share of the training is done; it comes to 0 four times, ever later.

    Holzmüller et al. (2024), eq. 2.

    >>> [round(coslog(done), 2) for done in (0.0, 0.03, 1 / 15, 3 / 15, 7 / 15, 0.7, 1.0)]
    [0.0, 0.99, 0.0, 0.0, 0.0, 0.99, 0.0]
    """
    return 0.5 * (1 - math.cos(2 * math.pi * math.log2(1 + (2**_CYCLES - 1) * done)))


class Adam:
    """Adam (Kingma and Ba 2015) for all parameters at once; weights decay towards 0 beside it (Loshchilov 2019)."""

    def __init__(self, shape: Shape, *, learning_rate: float, weight_decay: float) -> None:
        self._learning_rate = learning_rate
        self._rate, self._decay = (np.zeros(shape.n_parameters, dtype=np.float32) for _ in range(2))
        for name, rate in shape.parts(self._rate).items():
            rate[:] = _RATES.get(name.rstrip("0123456789"), 1.0)
        for name, decay in shape.parts(self._decay).items():
            decay[:] = weight_decay if name.startswith(WEIGHTS) else 0.0
        self._mean, self._square, self._step = (np.zeros_like(self._rate) for _ in range(3))
        self._n_steps = 0

    def move(self, parameters: Matrix, gradient: Matrix, done: float) -> None:
        """Change parameters by a step, when a share of the training is done."""
        size = self._learning_rate * coslog(done)
        self._n_steps += 1
        mean, square, step = self._mean, self._square, self._step
        mean *= _MOMENTUM
        np.multiply(gradient, 1 - _MOMENTUM, out=step)
        mean += step
        square *= _MEMORY
        np.multiply(gradient, gradient, out=step)
        step *= 1 - _MEMORY
        square += step
        np.divide(square, 1 - _MEMORY**self._n_steps, out=step)
        np.sqrt(step, out=step)
        step += _TINY
        np.divide(mean, step, out=step)
        step *= self._rate
        step *= size / (1 - _MOMENTUM**self._n_steps)
        parameters -= step
        np.multiply(parameters, self._decay, out=step)
        step *= size
        parameters -= step
