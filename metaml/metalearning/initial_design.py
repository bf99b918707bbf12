"""The first evaluations on a new data set: configurations of any algorithm that together do well on data sets like it.

A portfolio as in TabRepo (Salinas & Erickson 2024) and auto-sklearn 2 (Feurer et al. 2022), but chosen for the data set
at hand: data sets that are like it count more, and under a time budget what is expected to take long must promise more.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from metaml.acquisition.candidates import key_of
from metaml.metafeatures.similarity import nearest
from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.portfolio import LIKENESS, AlgorithmConfig, Portfolio
from metaml.metalearning.scales import Array
from metaml.spaces.config import Config

LEAST_DATASETS = 10
USUAL_FOLDS = 5
"""Of the runs that moves are known by; an evaluation with fewer folds takes less."""
HALF_WEIGHT = 20
"""The data set at this place in the order of likeness counts half as much as the nearest."""
LONGEST_SHARE = 0.2
FREE_SHARE = 0.02
"""A move may be expected to take a fifth of the budget at most; below a fiftieth, seconds do not count."""
LEAST_GAIN = 0.005
"""A move must raise the mean level by this much; what promises less is left to the search."""
N_CARRIERS = 5


@dataclass(frozen=True)
class Suggestion:
    """A configuration to evaluate, with the seconds it is expected to take (NaN if nothing is known)."""

    algorithm: str
    config: Config
    seconds: float


class InitialDesign:
    """A portfolio read for one data set: what to evaluate first, which algorithms to try first, and why."""

    def __init__(
        self,
        portfolio: Portfolio,
        metafeatures: Metafeatures,
        *,
        algorithms: Collection[str],
        is_valid: Callable[[str, Config], bool] = lambda _name, _config: True,
        n_rows: float,
        n_folds: int = USUAL_FOLDS,
        reference_seconds: float | None = None,
    ) -> None:
        self._described = {name: float(metafeatures.get(name, np.nan)) for name in LIKENESS}
        usable = [
            place
            for place, (name, config) in enumerate(portfolio.moves)
            if name in algorithms and is_valid(name, config)
        ]
        seconds = portfolio.seconds(self._described, n_rows=n_rows, reference_seconds=reference_seconds)
        seconds *= n_folds / USUAL_FOLDS
        self.moves = [Suggestion(*portfolio.moves[place], float(seconds[place])) for place in usable]
        self._levels = portfolio.levels[:, usable]
        self._names = [portfolio.names[fingerprint] for fingerprint in portfolio.metafeatures.index]
        self._weights, self._distances = _likeness(portfolio, self._described)
        self._places = {(move.algorithm, key_of(move.config)): k for k, move in enumerate(self.moves)}
        self.is_usable = portfolio.n_datasets >= LEAST_DATASETS and bool(self.moves)

    def first(
        self,
        n: int,
        *,
        given: Sequence[AlgorithmConfig] = (),
        budget_seconds: float | None = None,
        is_filled: bool = False,
    ) -> list[Suggestion]:
        """Return up to `n` moves, the first to be made first: those `given`, then what adds most to them.

        Without a budget in seconds, what a move takes does not matter: the order is then the same on every machine. If
        it is to be filled, what stands highest by itself follows where nothing adds any more.
        """
        if not self.is_usable:
            return []
        costs = _costs(self.moves, budget_seconds)
        places = [self._places.get((name, key_of(config))) for name, config in given]
        chosen = greedy(self._levels, self._weights, costs, n, given=[place for place in places if place is not None])
        if is_filled:
            highest = np.argsort(-self._expected, kind="stable").tolist()
            chosen = list(dict.fromkeys([*chosen, *highest]))[:n]
        return [self.moves[k] for k in chosen]

    def first_configs(
        self, n: int, *, given: Sequence[AlgorithmConfig] = (), budget_seconds: float | None = None
    ) -> list[AlgorithmConfig]:
        """Return what `first` does, as pairs of algorithm and configuration."""
        return [(item.algorithm, item.config) for item in self.first(n, given=given, budget_seconds=budget_seconds)]

    @property
    def _expected(self) -> Array:
        """Return the level of each move, in the mean over data sets, similar ones counting more."""
        expected: Array = self._weights @ self._levels / self._weights.sum()
        return expected

    def order(self) -> list[str]:
        """Return the algorithms, the one whose best move is expected to stand highest here first."""
        best: dict[str, float] = {}
        for move, level in zip(self.moves, self._expected if self.is_usable else (), strict=self.is_usable):
            best[move.algorithm] = max(best.get(move.algorithm, 0.0), float(level))
        return sorted(best, key=lambda name: -best[name])

    @property
    def similar(self) -> list[tuple[str, float]]:
        """Return the names of the known data sets that are most like this one, with their distances."""
        alike = np.argsort(self._distances, kind="stable")[:N_CARRIERS]
        return [(self._names[k], float(self._distances[k])) for k in alike if np.isfinite(self._distances[k])]

    def reasons(self, algorithm: str, config: Config) -> dict[str, object]:
        """Return how a move stood on the data sets that are most like this one; nothing if it is not known."""
        place = self._places.get((algorithm, key_of(config)))
        if place is None or not self.is_usable:
            return {}
        alike = np.argsort(self._distances, kind="stable")[:N_CARRIERS]
        return {
            "expected_level": round(float(self._expected[place]), 3),
            "carriers": [
                {
                    "dataset": self._names[k],
                    "level": round(float(self._levels[k, place]), 2),
                    "distance": round(float(self._distances[k]), 3),
                }
                for k in alike
            ],
        }


def greedy(levels: Array, weights: Array, costs: Array, n: int, *, given: Sequence[int] = ()) -> list[int]:
    """Return the candidates (columns) that raise the weighted mean, over rows, of the best level most for their cost.

    Those given come first, and what they reach counts as reached. There are fewer than `n` where what is left promises
    next to nothing, or takes too long.

    >>> greedy(np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.9]]), np.array([1.0, 1.0]), np.ones(3), 2)
    [2, 0]
    """
    share = weights / weights.sum()
    chosen = list(given)
    reached = levels[:, chosen].max(axis=1, initial=0.0)
    while len(chosen) < min(n, levels.shape[1]):
        gain = share @ np.maximum(levels - reached[:, np.newaxis], 0.0)
        value = np.where(gain >= LEAST_GAIN, gain, 0.0) / costs
        value[chosen] = 0.0
        place = int(np.argmax(value))
        if not value[place] > 0:
            break
        chosen.append(place)
        reached = np.maximum(reached, levels[:, place])
    return chosen


def _likeness(portfolio: Portfolio, described: Metafeatures) -> tuple[Array, Array]:
    """Return how much each data set counts, the more the nearer its metafeatures, and how far it is."""
    fingerprints = [str(fingerprint) for fingerprint in portfolio.metafeatures.index]
    found = nearest(described, portfolio.metafeatures, n=len(fingerprints))
    rank = {fingerprint: k for k, (fingerprint, _) in enumerate(found)}
    far = dict(found)
    weights = np.array(
        [1 / (1 + rank.get(fingerprint, len(fingerprints)) / HALF_WEIGHT) for fingerprint in fingerprints]
    )
    return weights, np.array([far.get(fingerprint, np.inf) for fingerprint in fingerprints])


def _costs(moves: Sequence[Suggestion], budget_seconds: float | None) -> Array:
    if budget_seconds is None:
        return np.ones(len(moves))
    seconds = np.array([move.seconds for move in moves])
    usual = float(np.nanmedian(seconds)) if np.isfinite(seconds).any() else 1.0
    seconds = np.where(np.isfinite(seconds), seconds, usual)
    costs: Array = np.sqrt(np.maximum(seconds, FREE_SHARE * budget_seconds))
    return np.where(seconds > LONGEST_SHARE * budget_seconds, np.inf, costs)
