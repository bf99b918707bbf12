"""Which points are dominated: one that is nowhere better than another, and somewhere worse."""

import numpy as np
from numpy.typing import NDArray

from metaml.arrays import Flags, Floats


def is_non_dominated(costs: Floats) -> Flags:
    """Return which rows no other row dominates; equal rows do not dominate each other, and NaN is never on a front.

    >>> is_non_dominated(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [2.0, 2.0]])).tolist()
    [True, True, False, True]
    """
    flags: Flags = np.isfinite(costs.sum(axis=1))
    points = costs[flags]
    # In lexicographic order nothing is dominated by what comes later.
    order = np.lexsort(points.T[::-1])
    front = np.empty((0, costs.shape[1]))
    kept = np.zeros(len(points), dtype=np.bool_)
    for position in order:
        point = points[position]
        at_least_as_good = (front <= point).all(axis=1)
        if not (at_least_as_good & (front < point).any(axis=1)).any():
            kept[position] = True
            front = np.vstack([front, point])
    flags[flags] = kept
    return flags


def front_numbers(costs: Floats) -> NDArray[np.int64]:
    """Return the number of the front that each row is on: 0 for the non-dominated, 1 for what is next, and so on.

    A row with NaN is on a front of its own behind all others (Deb et al. 2002, non-dominated sorting).

    >>> front_numbers(np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 3.0], [3.0, 3.0]])).tolist()
    [0, 1, 0, 2]
    """
    numbers = np.full(len(costs), -1, dtype=np.int64)
    left = np.flatnonzero(np.isfinite(costs.sum(axis=1)))
    number = 0
    while len(left):
        is_next = is_non_dominated(costs[left])
        numbers[left[is_next]] = number
        left, number = left[~is_next], number + 1
    numbers[numbers < 0] = number
    return numbers
