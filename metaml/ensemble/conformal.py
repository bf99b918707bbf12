"""Conformal prediction: intervals and sets of labels that hold the truth as often as was asked for.

The error of a row is that of a model that was fitted without its fold. Of numbers, the interval of a new row is what
the final model predicts plus and minus the error of the rank that was asked for (cross-conformal prediction, Vovk 2015,
around the final model; "CV" in Barber et al. 2021). CV+, which goes out from the model of each fold instead, has a
guarantee, but held the truth more often than asked (docs/measured.md). Errors may be divided by how large they are
expected to be there (Lei et al. 2018, sec. 5.2). For classes, the error is 1 minus the probability of the true label
(Sadinle et al. 2019), again by the model that did not see the row (Romano et al. 2020, sec. 3).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from metaml.arrays import Array, Flags, Floats
from metaml.errors import BadRequest

FEWEST_PARTS = 5


def rank_for(coverage: float, n_rows: int) -> int:
    """Return which of `n_rows` errors, from 1 for the smallest, bounds this share of new errors.

    >>> rank_for(0.9, 99), rank_for(0.5, 3)
    (90, 2)
    """
    if not 0 < coverage < 1:
        raise BadRequest(f"An interval cannot have a coverage of {coverage:g}. Give a share between 0 and 1, as 0.9.")
    rank = math.ceil(round(coverage * (n_rows + 1), 9))
    if rank > n_rows:
        most = n_rows / (n_rows + 1)
        raise BadRequest(
            f"The model knows its errors on {n_rows:,} rows, too few for a coverage of {coverage:g}. "
            f"Ask for at most {math.floor(1000 * most) / 1000:g}."
        )
    return rank


def intervals(centres: Floats, widths: Floats, errors: Floats, coverage: float) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends of the intervals of new rows.

    `centres` are what the model predicts for them, `widths` the unit of its error there. `errors` are the absolute
    errors of the tested rows in that unit.

    >>> low, high = intervals(np.array([10.0]), np.array([2.0]), np.arange(1.0, 10.0), 0.8)
    >>> low.tolist(), high.tolist()
    ([-6.0], [26.0])
    """
    bound = np.sort(errors)[rank_for(coverage, len(errors)) - 1]
    return np.asarray(centres - widths * bound), np.asarray(centres + widths * bound)


def label_sets(
    probabilities: Floats, errors: Floats, folds: npt.NDArray[np.integer], coverage: float, predicted: Array
) -> Flags:
    """Return which labels are in the set of each new row, rows × classes; the predicted one always is.

    `probabilities` are folds × rows × classes, as the model without each fold has them; `errors` are 1 minus the
    probability of the true label of each tested row, `folds` its fold.

    >>> chances = np.array([[[0.5, 0.45, 0.05]]])
    >>> label_sets(chances, np.linspace(0.1, 0.9, 9), np.zeros(9, int), 0.6, np.array([0])).tolist()
    [[True, True, False]]
    """
    rank_for(coverage, len(errors))
    n_smaller = np.zeros(probabilities.shape[1:], dtype=np.int64)
    for fold, chances in enumerate(probabilities):
        own = np.sort(errors if len(probabilities) == 1 else errors[folds == fold])
        n_smaller += np.searchsorted(own, 1 - chances, side="left")
    found = n_smaller < coverage * (len(errors) + 1)
    found[np.arange(len(found)), predicted] = True
    return np.asarray(found)


def interval_losses(errors: Floats, half_widths: Floats, coverage: float) -> Floats:
    """Return the interval score of each row (Gneiting & Raftery 2007, eq. 43): its width, and what it misses by."""
    missed = np.maximum(errors - half_widths, 0.0)
    return np.asarray(2 * half_widths + 2 / (1 - coverage) * missed)


def parts_of(folds: Array) -> npt.NDArray[np.integer]:
    """Return the folds of tested rows, or five parts where all were tested in one."""
    if len(np.unique(folds)) > 1:
        return np.unique(folds, return_inverse=True)[1]
    return np.arange(len(folds)) % FEWEST_PARTS


def cross_bounds(errors: Floats, parts: Array, coverage: float) -> Floats:
    """Return the bound of the error of each tested row by the errors of the other parts: none judges itself."""
    bounds = np.empty(len(errors))
    for part in np.unique(parts):
        inside = parts == part
        others = np.sort(errors[~inside])
        bounds[inside] = others[rank_for(coverage, len(others)) - 1]
    return bounds
