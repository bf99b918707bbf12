"""Initial designs: places that fill a space evenly, whatever its parameters are."""

import numpy as np
from numpy.typing import NDArray

from metaml.acquisition.cube import Cube
from metaml.arrays import Floats, Positions
from metaml.spaces import Choice

OVERSAMPLING = 10
"""How many times more places are drawn than kept, as in Horn & Bischl (2016)."""


def initial_design(cube: Cube, n: int, rng: np.random.Generator) -> Floats:
    """Return `n` places: a Latin hypercube, or thinned random ones where parameters are choices or may be inactive."""
    is_plain = all(p.when is None and not isinstance(p, Choice) for p in cube.parameters)
    return latin_hypercube(cube, n, rng) if is_plain else thinned(cube, n, rng)


def latin_hypercube(cube: Cube, n: int, rng: np.random.Generator) -> Floats:
    """Return `n` places of which each `n`-th part of every coordinate has one (McKay et al. 1979)."""
    columns = [rng.permutation(n) for _ in range(cube.n_parameters)]
    if not columns:
        return np.zeros((n, 0))
    places: Floats = (np.column_stack(columns) + rng.random((n, cube.n_parameters))) / n
    return places


def thinned(cube: Cube, n: int, rng: np.random.Generator) -> Floats:
    """Return `n` of ten times as many random places; again and again, one of the two nearest is left out.

    Distances are Gower's (1971): a number counts by its difference, a choice as equal or not. Where only one of
    two places has a parameter, they differ by 1 in it (Horn & Bischl 2016, section II.a).
    """
    places = cube.sample(OVERSAMPLING * n, rng)
    return places[thin(gower(cube, places), n, rng)]


def spread(rows: Floats, n: int, rng: np.random.Generator) -> list[int]:
    """Return the positions of `n` encoded rows that lie apart, thinned out of ten times as many random ones.

    >>> rows = np.array([[0.0], [0.01], [1.0]])
    >>> len(spread(rows, 2, np.random.default_rng(0)))
    2
    """
    drawn = rng.permutation(len(rows))[: OVERSAMPLING * n]
    some = rows[drawn]
    inactive = np.isnan(some)
    apart = np.abs(np.nan_to_num(some)[:, np.newaxis] - np.nan_to_num(some))
    one, both = inactive[:, np.newaxis] ^ inactive, inactive[:, np.newaxis] & inactive
    distances: Floats = np.where(one, 1.0, np.where(both, 0.0, apart)).mean(axis=2)
    return [int(place) for place in drawn[thin(distances, n, rng)]]


def thin(distances: Floats, n: int, rng: np.random.Generator) -> Positions:
    """Return `n` positions that are left when, again and again, one of the two nearest is left out."""
    distances = distances.copy()
    np.fill_diagonal(distances, np.inf)
    is_kept = np.ones(len(distances), dtype=np.bool_)
    nearest = distances.min(axis=1, initial=np.inf)
    for _ in range(len(distances) - n):
        loser = int(rng.choice(np.flatnonzero(nearest <= nearest.min() + 1e-12)))
        is_kept[loser] = False
        # Only places that were nearest to this one have another nearest now.
        changed = np.flatnonzero(is_kept & (nearest == distances[loser]))
        distances[loser], distances[:, loser] = np.inf, np.inf
        nearest[changed] = distances[changed].min(axis=1)
        nearest[loser] = np.inf
    return np.flatnonzero(is_kept)


def gower(cube: Cube, places: Floats) -> Floats:
    """Return the distance between each two places, in [0, 1]."""
    active = cube.active(places)
    n_choices: NDArray[np.int64] = cube.n_choices()
    total = np.zeros((len(places), len(places)))
    for k, count in enumerate(n_choices):
        column, here = places[:, k], active[:, k]
        if count:
            codes = np.minimum((column * count).astype(np.int64), count - 1)
            apart = (codes[:, np.newaxis] != codes).astype(np.float64)
        else:
            apart = np.abs(column[:, np.newaxis] - column)
        both, one = here[:, np.newaxis] & here, here[:, np.newaxis] ^ here
        total += np.where(both, apart, np.where(one, 1.0, 0.0))
    return total / max(len(n_choices), 1)
