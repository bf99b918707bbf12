"""How much each row counts: the column of weights, read and checked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaml.arrays import Floats
from metaml.data.cells import floats_of, holds_floats, numbers_of, without_extremes, words_of
from metaml.data.columns import Repair, with_noun
from metaml.errors import BadDataset


def weights_in(column: pd.Series, name: str) -> Floats:
    """Return the weight of each row, 0 or more; raise BadDataset for one that says nothing of how much a row counts."""
    weights = _numbers(column, name)
    if n_missing := int(np.isnan(weights).sum()):
        raise BadDataset(
            f"The column {name!r} has no weight for {n_missing:,} of {len(weights):,} rows. "
            "Give each row a finite number, 0 to leave it out."
        )
    if (weights < 0).any():
        raise BadDataset(
            f"The column {name!r} has {with_noun(int((weights < 0).sum()), 'negative weight')}, such as "
            f"{weights.min():g}. Give 0 or more: how often a row counts."
        )
    if not (weights > 0).any():
        raise BadDataset(f"All weights in the column {name!r} are zero: no row counts. Choose another with --weight.")
    return weights


def weight_repairs(weights: Floats, name: str) -> list[Repair]:
    """Return what a column of weights means for the table."""
    repairs = [Repair(name, "not used as a feature", "it says how much a row counts")]
    if n_none := int((weights == 0).sum()):
        repairs.append(Repair(name, f"{with_noun(n_none, 'row')} dropped", "with a weight of 0"))
    return repairs


def effective_weights(weights: Floats) -> Floats | None:
    """Return the weights that count; None if all are equal, as without any.

    Whole numbers say how often a row is there. Others only compare rows: they are scaled to a mean of 1, so that
    learners which ask for a least weight, as of a leaf, see rows of the usual size.

    >>> effective_weights(np.array([2.0, 1.0])).tolist(), effective_weights(np.array([0.5, 0.25, 0.75])).tolist()
    ([2.0, 1.0], [1.0, 0.5, 1.5])
    >>> effective_weights(np.array([3.0, 3.0])) is None
    True
    """
    if np.ptp(weights) == 0:
        return None
    if np.array_equal(weights, np.floor(weights)):
        return weights
    # Divided by the largest first, as the sum of very large numbers is infinite.
    shares = weights / weights.max()
    return np.asarray(shares / shares.mean())


def effective_rows(weights: Floats) -> float:
    """Return how many rows of equal weight say as much (Kish 1965): few, where a few rows weigh much.

    >>> effective_rows(np.array([1.0, 1.0])), effective_rows(np.array([1.0, 0.0]))
    (2.0, 1.0)
    """
    shares = weights / weights.max()
    return float(shares.sum() ** 2 / np.square(shares).sum())


def _numbers(column: pd.Series, name: str) -> npt.NDArray[np.float64]:
    if holds_floats(column):
        return without_extremes(floats_of(column))
    words = words_of(column)
    numbers = without_extremes(numbers_of(words.words))
    if not len(numbers) or np.isnan(numbers).all():
        examples = ", ".join(repr(word) for word in words.words[:3])
        raise BadDataset(
            f"The column {name!r} holds no numbers, but {examples[:60] or 'nothing'}. Choose another with --weight."
        )
    return words.take(numbers)
