"""Successive halving and Hyperband, without a barrier: which configuration is promoted, and where new ones begin.

Configurations compete at rungs: each rung is a larger share of an evaluation, the last one is all of it. Of those that
began at the same rung, the best 1/eta at each rung are promoted to the next. That is decided as soon as enough results
are there (Li et al. 2020, "A System for Massively Parallel Hyperparameter Tuning", algorithm 2), so that no worker
waits. Hyperband hedges how early to eliminate: it begins configurations at several rungs (Li et al. 2017; Thomas 2019,
algorithm 5).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

ETA = 4
"""One in this many configurations is promoted, to this many times the share."""


@dataclass(frozen=True)
class Entrant:
    """A configuration: the rung at which it began, its scores from there on (NaN if it failed), and if one is open."""

    start: int
    scores: tuple[float, ...] = ()
    is_open: bool = False

    @property
    def rung(self) -> int:
        """Return the rung of its last score; with none, the one before its first."""
        return self.start + len(self.scores) - 1


def promoted(entrants: Sequence[Entrant], n_rungs: int, eta: int = ETA) -> int | None:
    """Return the place of the entrant to promote: the highest rung first, the best first; None if there is none.

    >>> field = [Entrant(0, (score,)) for score in (0.1, 0.4, 0.3, 0.2)]
    >>> promoted(field, 2, 4), promoted(field, 1, 4), promoted(field[:3], 2, 4)
    (1, None, None)
    """
    for rung in range(n_rungs - 2, -1, -1):
        for start in range(rung, -1, -1):
            scored = [
                (entrant.scores[rung - start], -place)
                for place, entrant in enumerate(entrants)
                if entrant.start == start and len(entrant.scores) > rung - start
            ]
            best = sorted((pair for pair in scored if not math.isnan(pair[0])), reverse=True)
            for _, place in best[: len(scored) // eta]:
                entrant = entrants[-place]
                if entrant.rung == rung and not entrant.is_open:
                    return -place
    return None


def bracket_sizes(n_rungs: int, eta: int = ETA) -> tuple[int, ...]:
    """Return how many configurations Hyperband begins at each rung, so that all brackets cost about the same.

    >>> bracket_sizes(3, 3)
    (9, 5, 3)
    """
    top = n_rungs - 1
    return tuple(math.ceil(n_rungs / (left + 1) * eta**left) for left in range(top, -1, -1))


def next_start(entrants: Sequence[Entrant], n_rungs: int, eta: int = ETA) -> int:
    """Return the rung at which Hyperband begins its next configuration: that which lacks most of its share.

    >>> next_start([], 2, 4), next_start([Entrant(0)] * 4, 2, 4)
    (0, 1)
    """
    sizes = bracket_sizes(n_rungs, eta)
    begun = Counter(entrant.start for entrant in entrants)
    return min(range(n_rungs), key=lambda rung: begun[rung] / sizes[rung])
