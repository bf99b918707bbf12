"""Where candidates come from: random places, one-exchange neighbours, and focus search."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metaml.acquisition.cube import Cube
from metaml.arrays import Floats

STEP = 0.2
"""Standard deviation of a neighbour's step on the unit interval, as in SMAC (Hutter et al. 2011)."""

SMALLEST_STEP, LARGEST_STEP, MOVED_SHARE, CHANGED_SHARE = 0.005, 0.3, 0.6, 0.1
"""A perturbed place: the standard deviations of its step, how many numbers move, and how many choices change."""


class Judge(Protocol):
    """Values places. `parts` and `values` are separate because values may only be comparable within one set."""

    def parts(self, places: Floats) -> Floats:
        """Return one row for each place."""
        ...

    def values(self, parts: Floats) -> Floats:
        """Return one value for each row, higher is better."""
        ...


Found = tuple[Floats, Floats]
"""Places, and their parts as a judge gave them."""

Search = Callable[[Cube, Judge, Floats, np.random.Generator], Found]


def random_places(cube: Cube, judge: Judge, best: Floats, rng: np.random.Generator, *, n: int = 1000) -> Found:  # noqa: ARG001
    """Return uniformly drawn places."""
    places = cube.sample(n, rng)
    return places, judge.parts(places)


def random_and_neighbours(
    cube: Cube,
    judge: Judge,
    best: Floats,
    rng: np.random.Generator,
    *,
    n: int = 600,
    n_neighbours: int = 200,
    n_rounds: int = 2,
    n_centres: int = 10,
) -> Found:
    """Return random places, neighbours of the best known ones, and neighbours of the most valuable of all these.

    SMAC climbs from each start until it is stuck. A few rounds for all starts at once cost less and end as high.
    """
    sizes = (n, n_neighbours, *[n_neighbours // 2] * n_rounds)
    return _random_and_near(cube, judge, best, rng, near=neighbours, sizes=sizes, n_centres=n_centres)


def random_and_perturbed(
    cube: Cube,
    judge: Judge,
    best: Floats,
    rng: np.random.Generator,
    *,
    n: int = 500,
    n_perturbed: int = 400,
    n_rounds: int = 2,
    n_centres: int = 10,
) -> Found:
    """Return random places, and places at all distances from the best known ones and from the most valuable of these.

    A front has many good places, and what is better than one of them is often close to it in every parameter.
    """
    sizes = (n, n_perturbed, *[n_perturbed // 4] * n_rounds)
    return _random_and_near(cube, judge, best, rng, near=perturbed, sizes=sizes, n_centres=n_centres)


def _random_and_near(
    cube: Cube,
    judge: Judge,
    best: Floats,
    rng: np.random.Generator,
    *,
    near: Callable[[Cube, Floats, np.random.Generator], Floats],
    sizes: Sequence[int],
    n_centres: int,
) -> Found:
    """Return random places, places near the best known ones and, in each round, near the most valuable of all these.

    `sizes` are the numbers of random places, of places near the best known ones, and of those of each round.
    """
    n_random, n_best, *rounds = sizes
    places = cube.sample(n_random, rng)
    if len(best):
        places = np.vstack([places, near(cube, _repeated(best, n_best), rng)])
    parts = judge.parts(places)
    for n in rounds:
        centres = places[np.argsort(-judge.values(parts), kind="stable")[:n_centres]]
        more = near(cube, _repeated(centres, n), rng)
        places, parts = np.vstack([places, more]), np.vstack([parts, judge.parts(more)])
    return places, parts


def perturbed(cube: Cube, places: Floats, rng: np.random.Generator) -> Floats:
    """Return places that differ from the given ones in some parameters, each by a step of its own scale."""
    n, d = places.shape
    n_choices = cube.n_choices()
    # Inactive parameters get random coordinates: a parameter that a change activates has a random value.
    near = np.where(cube.active(places), places, rng.random((n, d)))
    scale = np.exp(rng.uniform(np.log(SMALLEST_STEP), np.log(LARGEST_STEP), size=(n, 1)))
    stepped = near + rng.normal(size=(n, d)) * scale
    stepped = np.where((stepped < 0) | (stepped > 1), rng.random((n, d)), stepped)
    moves = rng.random((n, d)) < MOVED_SHARE
    moves[np.arange(n), rng.integers(d, size=n)] = True
    is_choice = n_choices > 0
    other = (np.floor(rng.random((n, d)) * np.maximum(n_choices, 1)) + 0.5) / np.maximum(n_choices, 1)
    chosen = np.where(rng.random((n, d)) < CHANGED_SHARE, other, near)
    return np.where(is_choice, chosen, np.where(moves, stepped, near))


def focus_search(
    cube: Cube,
    judge: Judge,
    best: Floats,  # noqa: ARG001
    rng: np.random.Generator,
    *,
    n_restarts: int = 3,
    n_iterations: int = 3,
    n_points: int = 200,
) -> Found:
    """Return all places seen while zooming in on the best, from several starts (Horn & Bischl 2016, algorithm 2).

    After each round a number's range shrinks to its best value plus and minus a quarter of the range, and
    each parameter of more than two remaining choices loses one that is not the best.
    """
    n_choices = cube.n_choices()
    found: list[Found] = []
    for _ in range(n_restarts):
        low, high = np.zeros(cube.n_parameters), np.ones(cube.n_parameters)
        left = [np.arange(k) for k in n_choices]
        for _ in range(n_iterations):
            places = low + rng.random((n_points, cube.n_parameters)) * (high - low)
            for k in np.flatnonzero(n_choices):
                places[:, k] = (rng.choice(left[k], n_points) + 0.5) / n_choices[k]
            parts = judge.parts(places)
            found.append((places, parts))
            centre = places[int(np.argmax(judge.values(parts)))]
            low, high = shrink(low, high, centre)
            left = [_without_one(left[k], centre[k], n_choices[k], rng) for k in range(cube.n_parameters)]
    return np.vstack([places for places, _ in found]), np.vstack([parts for _, parts in found])


def shrink(low: Floats, high: Floats, centre: Floats) -> tuple[Floats, Floats]:
    """Return bounds a quarter of the range to either side of the centre, inside the old ones.

    >>> low, high = shrink(np.array([0.0]), np.array([1.0]), np.array([0.9]))
    >>> low.round(3).tolist(), high.tolist()
    ([0.65], [1.0])
    """
    quarter = (high - low) / 4
    return np.maximum(low, centre - quarter), np.minimum(high, centre + quarter)


def neighbours(cube: Cube, places: Floats, rng: np.random.Generator) -> Floats:
    """Return places that differ from the given ones in one active parameter, and in those that it activates."""
    n, d = places.shape
    n_choices = cube.n_choices()
    active = cube.active(places)
    # Inactive parameters get random coordinates: a parameter that the change activates has a random value.
    near = np.where(active, places, rng.random((n, d)))
    rows = np.arange(n)
    columns = np.argmax(np.where(active & (n_choices != 1), rng.random((n, d)), -1.0), axis=1)
    old = places[rows, columns]
    stepped = old + rng.normal(scale=STEP, size=n)
    stepped = np.where((stepped < 0) | (stepped > 1), rng.random(n), stepped)
    k = n_choices[columns]
    k_or_one = np.maximum(k, 1)
    code = np.minimum((old * k_or_one).astype(np.int64), k_or_one - 1)
    other = (code + 1 + (rng.random(n) * np.maximum(k - 1, 1)).astype(np.int64)) % k_or_one
    near[rows, columns] = np.where(k > 0, (other + 0.5) / k_or_one, stepped)
    return near


def _repeated(places: Floats, n: int) -> Floats:
    repeated: Floats = places[np.arange(n) % len(places)]
    return repeated


def _without_one(left: NDArray[np.int64], centre: float, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if len(left) <= 2:
        return left
    losers = left[left != int(centre * n)]
    kept: NDArray[np.int64] = left[left != rng.choice(losers)]
    return kept


SEARCHES: dict[str, Search] = {
    "random": random_places,
    "near": partial(random_and_neighbours, n_rounds=0),
    "neighbours": random_and_neighbours,
    "perturbed": random_and_perturbed,
    "focus": focus_search,
}
