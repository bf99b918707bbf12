"""Which jobs fit on some workers within a time: a 0-1 multiple knapsack."""

from collections.abc import Sequence

import numpy as np

from metaml.arrays import Floats

UNITS = 240
"""Seconds are rounded up to this part of the time: a packing may leave room, but never exceeds it."""


def pack(seconds: Floats, values: Floats, n_workers: int, capacity: float) -> list[list[int]]:
    """Return for each worker the positions of its jobs: together at most `capacity` seconds, and of much value.

    Workers are filled one after the other, each with the most valuable jobs that are left. So one worker gets the best
    set; several get a good one, which a search over all of them at once would hardly improve.

    >>> pack(np.array([3.0, 2.0, 2.0, 9.0]), np.array([4.0, 3.0, 2.0, 1.0]), 2, 4.0)
    [[1, 2], [0]]
    """
    left = [place for place in range(len(seconds)) if seconds[place] <= capacity]
    weights = np.maximum(np.ceil(np.asarray(seconds) / max(capacity, 1e-12) * UNITS - 1e-9), 1)
    filled = []
    for _ in range(n_workers):
        chosen = _best_set(left, weights, values)
        filled.append(chosen)
        left = [place for place in left if place not in chosen]
    return filled


def _best_set(places: Sequence[int], weights: Floats, values: Floats) -> list[int]:
    """Return the places of the largest total value with at most `UNITS` of weight, by dynamic programming."""
    best = np.zeros(UNITS + 1)
    taken = np.zeros((len(places), UNITS + 1), dtype=bool)
    for row, place in enumerate(places):
        weight = int(weights[place])
        with_it = np.full(UNITS + 1, -np.inf)
        with_it[weight:] = best[: UNITS + 1 - weight] + values[place]
        taken[row] = with_it > best
        best = np.maximum(best, with_it)
    room, chosen = UNITS, []
    for row in reversed(range(len(places))):
        if taken[row, room]:
            chosen.append(places[row])
            room -= int(weights[places[row]])
    return chosen[::-1]
