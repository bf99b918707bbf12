"""One round of component-wise boosting: which effect moves, and by how much.

All scores of a row move together for classes. The parameters of a distribution move one at a time: the one whose best
base learner lowers the loss most (noncyclical, inner loss: Thomas et al. 2018, algorithm 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from metaml.algorithms.componentwise.fitting import Ensemble
from metaml.algorithms.componentwise.losses import Loss
from metaml.arrays import Floats

SHIFT_RATE = 0.5
"""Intercepts follow faster than effects: they select nothing."""


class Move(NamedTuple):
    """What a round adds to an effect: values at each code of a term (codes × outputs).

    `output` is the score that moves, 0 if all move together. `shift` is what it adds to the intercepts.
    """

    term: int
    values: Floats
    output: int
    shift: Floats


def next_move(ensemble: Ensemble, loss: Loss, target: Floats, learning_rate: float) -> Move | None:
    """Return what helps most; None if nothing does, or a shadow would help more."""
    gradient, curvature = loss.gradient(target, ensemble.scores)
    if loss.moves_together:
        step = ensemble.best(gradient)
        if step is None or ensemble.is_shadow(step):
            return None
        return Move(ensemble.term_of(step), learning_rate / curvature * step.values, 0, np.zeros(gradient.shape[1]))
    # What columns explain of one parameter changes the level of the other, such as that of the spread.
    shift = SHIFT_RATE / curvature * np.average(gradient, axis=0, weights=ensemble.weight)
    best, found = np.inf, None
    for output in range(gradient.shape[1]):
        step = ensemble.best(gradient[:, [output]])
        if step is None:
            continue
        step = step._replace(values=learning_rate / curvature[output] * step.values)
        scores = ensemble.scores.copy()
        scores[:, [output]] += ensemble.at_rows(step)
        reached = float(np.average(loss.of_rows(target, scores), weights=ensemble.weight))
        if reached < best:
            best, found = reached, (output, step)
    if found is None or ensemble.is_shadow(found[1]):
        return None
    output, step = found
    values = np.zeros((len(step.values), gradient.shape[1]))
    values[:, [output]] = step.values
    return Move(ensemble.term_of(step), values, output, shift)
