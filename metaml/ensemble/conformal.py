"""Conformal prediction: intervals and sets of labels that hold the truth as often as was asked for.

CV+ (Barber et al. 2021, "Predictive inference with the jackknife+"): the error of a row is that of the model that was
fitted without its fold, and is added to what this model predicts for the new row. Errors may be divided by how large
they are expected to be there (Lei et al. 2018, sec. 5.2). For classes, the error is 1 minus the probability of the true
label (Sadinle et al. 2019), again by the model that did not see the row (Romano et al. 2020, sec. 3).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from metaml.arrays import Array, Flags, Floats
from metaml.errors import BadRequest

N_BISECTIONS = 60
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


def intervals(
    centres: Floats, widths: Floats, errors: Floats, folds: npt.NDArray[np.integer], coverage: float
) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends of the intervals of new rows.

    `centres` and `widths` are folds × rows: what the model without each fold predicts, and the unit of its error there.
    `errors` are the absolute errors of the tested rows in that unit, `folds` the fold of each. If there is one centre
    for all folds, it is the whole model's.

    >>> low, high = intervals(np.array([[10.0]]), np.array([[2.0]]), np.arange(1.0, 10.0), np.zeros(9, int), 0.8)
    >>> low.tolist(), high.tolist()
    ([-6.0], [26.0])
    """
    rank = rank_for(coverage, len(errors))
    by_fold = [np.sort(errors)] if len(centres) == 1 else [np.sort(errors[folds == k]) for k in range(len(centres))]
    return -_ranked(-centres, widths, by_fold, rank), _ranked(centres, widths, by_fold, rank)


def _ranked(centres: Floats, widths: Floats, by_fold: list[Floats], rank: int) -> Floats:
    """Return, for each row, the value of this rank among centre + width × error, over all folds and errors."""
    if len(by_fold) == 1:
        return np.asarray(centres[0] + widths[0] * by_fold[0][rank - 1])
    ends = [(c + w * e[0], c + w * e[-1]) for c, w, e in zip(centres, widths, by_fold, strict=True) if len(e)]
    low = np.min([end for end, _ in ends], axis=0)
    high = np.max([end for _, end in ends], axis=0)
    # Sorting all sums of all rows would take rows × errors of memory; counting those below a value does not.
    for _ in range(N_BISECTIONS):
        middle = (low + high) / 2
        n_below = np.zeros(len(middle), dtype=np.int64)
        for centre, width, errors in zip(centres, widths, by_fold, strict=True):
            n_below += np.searchsorted(errors, (middle - centre) / width, side="right")
        is_enough = n_below >= rank
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return np.asarray(high)


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
