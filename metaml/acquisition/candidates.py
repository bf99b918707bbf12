"""What can be proposed: any point of a space, or one of a list of recorded configurations."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metaml.acquisition.candidate_search import SEARCHES
from metaml.acquisition.committee import Committee
from metaml.acquisition.cube import Cube
from metaml.arrays import Floats, Positions
from metaml.encoding import Encoder, Facts
from metaml.errors import BadRequest
from metaml.spaces import Space
from metaml.spaces.config import Config

Taken = Callable[[str], bool]
"""Says whether the configuration with this key was evaluated or proposed already."""

N_DRAWS = 50
N_BEST = 5
"""Known configurations whose neighbours are looked at."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A configuration, the row it is encoded as, its value to a committee, and its position in a pool."""

    config: Config
    row: Floats
    value: float | None = None
    index: int | None = None


@dataclass(frozen=True, eq=False)
class Wish:
    """Several candidates at once: one for each of these `widths` of the bound, only of rows that are `allowed`."""

    widths: Sequence[float]
    allowed: Callable[[Floats], NDArray[np.bool_]]


class Candidates(Protocol):
    """Where an optimizer takes its proposals from."""

    def key(self, config: Config) -> str:
        """Return a key that is the same for configurations of which only one needs to be evaluated."""
        ...

    def row(self, config: Config) -> Floats:
        """Return the encoded configuration."""
        ...

    def index(self, config: Config) -> int | None:
        """Return the configuration's position in the pool, if there is a pool and it is in it."""
        ...

    def random(self, taken: Taken, rng: np.random.Generator) -> Candidate:
        """Return one at random that is not taken."""
        ...

    def best(self, committee: Committee, known: Sequence[Config], taken: Taken, rng: np.random.Generator) -> Candidate:
        """Return the one the committee values most and that is not taken; `known` are runs, the best first."""
        ...

    def several(
        self, committee: Committee, known: Sequence[Config], taken: Taken, rng: np.random.Generator, wish: Wish
    ) -> list[tuple[float, Candidate]]:
        """Return different ones that are not taken: for each width of a wish, the one with the highest bound."""
        ...


def key_of(config: Config) -> str:
    """Return a key for a configuration; the order of its parameters does not matter."""
    return json.dumps(config, sort_keys=True)


class SpaceCandidates:
    """Points of a space, searched by one of `SEARCHES`.

    Points that differ only in `inert` parameters, which have no effect on the data set at hand, are the same.
    """

    def __init__(
        self,
        space: Space,
        *,
        facts: Facts | None = None,
        search: str = "neighbours",
        inert: Collection[str] = (),
        n_best: int = N_BEST,
    ) -> None:
        if search not in SEARCHES:
            raise BadRequest(f"No candidate search is named {search!r}. Choose one of {', '.join(SEARCHES)}.")
        self.space = space
        self.facts = facts
        self.inert = frozenset(inert)
        self.n_best = n_best
        self.encoder = Encoder(unit=True).fit([], facts, space)
        self.cube = Cube(space, self.encoder, facts)
        self._search = SEARCHES[search]

    def key(self, config: Config) -> str:
        """Return the key of what has an effect."""
        return key_of({name: value for name, value in config.items() if name not in self.inert})

    def row(self, config: Config) -> Floats:
        """Return the encoded configuration."""
        row: Floats = self.encoder.transform([config], self.facts)[0]
        return row

    def index(self, config: Config) -> int | None:  # noqa: ARG002 - a space has no positions
        """Return None."""
        return None

    def random(self, taken: Taken, rng: np.random.Generator) -> Candidate:
        """Return a random point; in a small space that is used up, it may be taken."""
        for place in self.cube.sample(N_DRAWS, rng):
            config = self.cube.config(place)
            if not taken(self.key(config)):
                break
        return Candidate(config, self.row(config))

    def best(self, committee: Committee, known: Sequence[Config], taken: Taken, rng: np.random.Generator) -> Candidate:
        """Return the most valuable point found that is not taken, or a random one if all were."""
        places, parts = self._places(committee, known, rng)
        values = committee.values(parts)
        # A random second key breaks ties. Only a few are tried: in a used-up space all may be taken.
        for position in np.lexsort((rng.random(len(values)), -values))[:N_DRAWS]:
            config = self.cube.config(places[position])
            if not taken(self.key(config)):
                return Candidate(config, self.row(config), float(values[position]))
        return self.random(taken, rng)

    def several(
        self, committee: Committee, known: Sequence[Config], taken: Taken, rng: np.random.Generator, wish: Wish
    ) -> list[tuple[float, Candidate]]:
        """Return different points of one search; fewer than asked for if the space is nearly used up."""
        places, parts = self._places(committee, known, rng)
        found: dict[str, tuple[float, Candidate]] = {}
        for width, values, order in _by_bounds(committee, parts, self.cube.encode(places), rng, wish):
            for position in order[: N_DRAWS + len(found)]:
                config = self.cube.config(places[position])
                key = self.key(config)
                if key not in found and not taken(key):
                    found[key] = (width, Candidate(config, self.row(config), float(values[position])))
                    break
        return list(found.values())

    def _places(self, committee: Committee, known: Sequence[Config], rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the places that a search has looked at, with what the committee says of them."""
        inside = [config for config in known[: 4 * self.n_best] if self.space.is_valid(config)][: self.n_best]
        return self._search(self.cube, _PlaceJudge(self.cube, committee), self.cube.places(inside), rng)


class PoolCandidates:
    """Recorded configurations, encoded once."""

    def __init__(
        self,
        configs: Sequence[Config],
        *,
        facts: Facts | None = None,
        log: Sequence[str] = (),
        rows: Floats | None = None,
    ) -> None:
        self.configs = tuple(configs)
        self.facts = facts
        self.encoder = Encoder(unit=True, log=log).fit(self.configs, facts)
        self.rows = self.encoder.transform(self.configs, facts) if rows is None else rows
        self._keys = [key_of(config) for config in self.configs]
        self._index = {key: position for position, key in reversed(list(enumerate(self._keys)))}

    def key(self, config: Config) -> str:
        """Return the configuration's own key."""
        return key_of(config)

    def row(self, config: Config) -> Floats:
        """Return the encoded configuration."""
        position = self.index(config)
        row: Floats = self.encoder.transform([config], self.facts)[0] if position is None else self.rows[position]
        return row

    def index(self, config: Config) -> int | None:
        """Return the configuration's position in the pool, None if it is not in it."""
        return self._index.get(key_of(config))

    def random(self, taken: Taken, rng: np.random.Generator) -> Candidate:
        """Return one at random."""
        return self._at(int(rng.choice(self._open(taken))))

    def best(self, committee: Committee, known: Sequence[Config], taken: Taken, rng: np.random.Generator) -> Candidate:  # noqa: ARG002
        """Return the most valuable one, ties broken at random."""
        positions = self._open(taken)
        values = committee.values(committee.parts(self.rows[positions]))
        tied = np.flatnonzero(values >= values.max() - 1e-12)
        chosen = int(rng.choice(tied))
        return self._at(int(positions[chosen]), float(values[chosen]))

    def several(
        self,
        committee: Committee,
        known: Sequence[Config],  # noqa: ARG002
        taken: Taken,
        rng: np.random.Generator,
        wish: Wish,
    ) -> list[tuple[float, Candidate]]:
        """Return different ones; fewer than asked for if the pool is nearly used up."""
        positions = self._open(taken)
        rows = self.rows[positions]
        found: dict[int, tuple[float, Candidate]] = {}
        for width, values, order in _by_bounds(committee, committee.parts(rows), rows, rng, wish):
            chosen = next((int(place) for place in order if int(place) not in found), None)
            if chosen is not None:
                found[chosen] = (width, self._at(int(positions[chosen]), float(values[chosen])))
        return list(found.values())

    def _at(self, position: int, value: float | None = None) -> Candidate:
        return Candidate(dict(self.configs[position]), self.rows[position], value, position)

    def _open(self, taken: Taken) -> Positions:
        positions = np.array([k for k, key in enumerate(self._keys) if not taken(key)], dtype=np.int64)
        if not len(positions):
            raise BadRequest(
                f"All {len(self.configs)} configurations of the pool are taken. Stop asking, or give a larger pool."
            )
        return positions


def _by_bounds(
    committee: Committee, parts: Floats, rows: Floats, rng: np.random.Generator, wish: Wish
) -> Iterator[tuple[float, Floats, Positions]]:
    """Yield each width with the bounds of all rows, and the allowed ones in their order; ties are in random order."""
    allowed, ties = np.flatnonzero(wish.allowed(rows)), rng.random(len(rows))
    for width in wish.widths:
        values = committee.bounds(parts, width)
        yield width, values, allowed[np.lexsort((ties[allowed], -values[allowed]))]


class _PlaceJudge:
    """A committee that is shown places of the cube."""

    def __init__(self, cube: Cube, committee: Committee) -> None:
        self.cube = cube
        self.committee = committee

    def parts(self, places: Floats) -> Floats:
        """Return the committee's parts for each place."""
        return self.committee.parts(self.cube.encode(places))

    def values(self, parts: Floats) -> Floats:
        """Return the committee's values."""
        return self.committee.values(parts)
