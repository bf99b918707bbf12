"""The initial design: the first evaluations on a new data set, chosen to do well together on similar data sets.

A portfolio as in TabRepo (Salinas & Erickson 2024) and auto-sklearn 2 (Feurer et al. 2022), but chosen for one data
set: similar data sets count more, and under a time budget a slow candidate must promise a larger gain.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaml.acquisition.candidates import key_of
from metaml.arrays import Floats
from metaml.metafeatures.similarity import nearest
from metaml.metalearning.ensemble_gain import EnsembleGain, families_of
from metaml.metalearning.fidelity import fingerprint_of, n_distinct
from metaml.metalearning.history import LEAST_DATASETS, USUAL_FOLDS
from metaml.metalearning.meta_learner import Metafeatures
from metaml.metalearning.portfolio import SIMILARITY_FEATURES, AlgorithmConfig, Portfolio
from metaml.spaces.config import Config

HALF_WEIGHT = 20
"""The data set at this position in the order of similarity counts half as much as the nearest."""
LONGEST_SHARE = 0.2
FREE_SHARE = 0.02
"""A candidate may take at most a fifth of the budget; below a fiftieth, its seconds do not matter."""
LEAST_GAIN = 0.005
"""A candidate must raise the mean level by at least this much; smaller gains are left to the search."""
MOST_CORRECTION, CORRECTION_RUNS = 8.0, 6
N_CURVES = 20
"""Similar data sets whose improvement curves are the prior of a bandit."""
N_SIMILAR = 5
"""Similar data sets that are shown as reasons for a suggestion."""
FinishedRun = tuple[str, Config, float]
"""The algorithm and the configuration of a finished evaluation, and its seconds."""


@dataclass(frozen=True)
class Suggestion:
    """A configuration to evaluate, and its expected seconds (NaN if unknown)."""

    algorithm: str
    config: Config
    seconds: float


class InitialDesign:
    """A portfolio applied to one data set: which configurations and algorithms to try first, and why.

    `finished` are the evaluations on it so far with their seconds: if they took longer than expected, others will, too.
    With `for_ensemble`, what is chosen should do well together in an ensemble, not only contain one good model.
    """

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
        finished: Sequence[FinishedRun] = (),
        for_ensemble: bool = False,
    ) -> None:
        self._described = {name: float(metafeatures.get(name, np.nan)) for name in SIMILARITY_FEATURES}
        usable = [
            place
            for place, (name, config) in enumerate(portfolio.candidates)
            if name in algorithms and is_valid(name, config)
        ]
        seconds = portfolio.seconds(self._described, n_rows=n_rows, reference_seconds=reference_seconds)
        seconds *= n_folds / USUAL_FOLDS
        seconds *= _correction(portfolio.candidates, seconds, finished)
        self.candidates = [Suggestion(*portfolio.candidates[place], float(seconds[place])) for place in usable]
        self._levels = portfolio.levels[:, usable]
        self._datasets = [str(name) for name in portfolio.metafeatures.index]
        self._names = [portfolio.names[fingerprint] for fingerprint in portfolio.metafeatures.index]
        self._weights, self._distances = _similarity(portfolio.metafeatures, self._described)
        self._places = {(item.algorithm, key_of(item.config)): k for k, item in enumerate(self.candidates)}
        self._ensemble = (
            EnsembleGain(self._levels, families_of([item.algorithm for item in self.candidates]))
            if for_ensemble
            else None
        )
        self.is_usable = n_distinct(portfolio.metafeatures.index) >= LEAST_DATASETS and bool(self.candidates)

    def first(
        self,
        n: int,
        *,
        given: Sequence[AlgorithmConfig] = (),
        budget_seconds: float | None = None,
        is_filled: bool = False,
    ) -> list[Suggestion]:
        """Return up to `n` suggestions in order: those `given`, then those that add most to them.

        Without a budget in seconds, costs are ignored, and the order is the same on every machine. With `is_filled`,
        if no candidate adds enough any more, those with the highest expected level follow.
        """
        if not self.is_usable:
            return []
        costs = _costs(self.candidates, budget_seconds)
        places = [self._places.get((name, key_of(config))) for name, config in given]
        known = [place for place in places if place is not None]
        if self._ensemble is None:
            chosen = greedy(self._levels, self._weights, costs, n, given=known)
        else:
            chosen = greedy_together(self._ensemble, self._weights, costs, n, given=known)
        if is_filled:
            highest = np.argsort(-self._expected, kind="stable").tolist()
            chosen = list(dict.fromkeys([*chosen, *highest]))[:n]
        return [self.candidates[k] for k in chosen]

    def first_configs(
        self, n: int, *, given: Sequence[AlgorithmConfig] = (), budget_seconds: float | None = None
    ) -> list[AlgorithmConfig]:
        """Return the result of `first` as pairs of algorithm and configuration."""
        return [(item.algorithm, item.config) for item in self.first(n, given=given, budget_seconds=budget_seconds)]

    @property
    def _expected(self) -> Floats:
        """Return the mean level of each candidate over data sets; similar data sets count more."""
        expected: Floats = self._weights @ self._levels / self._weights.sum()
        return expected

    def order(self) -> list[str]:
        """Return the algorithms, the one with the highest expected level of its best candidate first."""
        best: dict[str, float] = {}
        for item, level in zip(self.candidates, self._expected if self.is_usable else (), strict=self.is_usable):
            best[item.algorithm] = max(best.get(item.algorithm, 0.0), float(level))
        return sorted(best, key=lambda name: -best[name])

    def improvement_curves(self) -> dict[str, list[list[float]]]:
        """Return, for each algorithm and similar data set, the best level after 1, 2, ... of its candidates.

        They are evaluated in the order of what is expected here, as a search would.
        """
        order = [int(place) for place in np.argsort(-self._expected, kind="stable")]
        nearest = np.argsort(self._distances, kind="stable")[:N_CURVES]
        found: dict[str, list[list[float]]] = {}
        for name in dict.fromkeys(item.algorithm for item in self.candidates):
            own = [place for place in order if self.candidates[place].algorithm == name]
            levels = np.maximum.accumulate(self._levels[nearest][:, own], axis=1)
            found[name] = [[round(float(level), 3) for level in curve] for curve in levels]
        return found

    @property
    def similar(self) -> list[tuple[str, float]]:
        """Return the names of the most similar known data sets, with their distances."""
        return [(self._names[k], float(self._distances[k])) for k in self._nearest if np.isfinite(self._distances[k])]

    @property
    def _nearest(self) -> list[int]:
        """Return the positions of the most similar data sets; of several samples of one, only the most similar."""
        order = np.argsort(self._distances, kind="stable").tolist()
        first = {fingerprint_of(self._datasets[k]): k for k in reversed(order)}
        return [k for k in order if first[fingerprint_of(self._datasets[k])] == k][:N_SIMILAR]

    def reasons(self, algorithm: str, config: Config) -> dict[str, object]:
        """Return the levels of a candidate on the most similar data sets; empty if it is not in the portfolio."""
        place = self._places.get((algorithm, key_of(config)))
        if place is None or not self.is_usable:
            return {}
        return {
            "expected_level": round(float(self._expected[place]), 3),
            "carriers": [
                {
                    "dataset": self._names[k],
                    "level": round(float(self._levels[k, place]), 2),
                    "distance": round(float(self._distances[k]), 3),
                }
                for k in self._nearest
            ],
        }


def _correction(candidates: Sequence[AlgorithmConfig], expected: Floats, finished: Sequence[FinishedRun]) -> float:
    """Return how many times longer than expected evaluations take here, by those that have finished.

    Few of them say little: with as many as `CORRECTION_RUNS`, half of the logarithm counts.

    >>> run = ("svm", {"C": 1.0})
    >>> round(_correction([run], np.array([2.0]), [(*run, 8.0)] * 6), 2)
    2.0
    """
    places = {(name, key_of(config)): k for k, (name, config) in enumerate(candidates)}
    ratios = [
        seconds / expected[place]
        for name, config, seconds in finished
        if (place := places.get((name, key_of(config)))) is not None and expected[place] > 0
    ]
    if not ratios:
        return 1.0
    share = len(ratios) / (len(ratios) + CORRECTION_RUNS)
    return float(np.clip(np.median(ratios), 1 / MOST_CORRECTION, MOST_CORRECTION) ** share)


def greedy(levels: Floats, weights: Floats, costs: Floats, n: int, *, given: Sequence[int] = ()) -> list[int]:
    """Return candidates (columns) chosen greedily by gain per cost.

    The gain is how much a candidate raises the weighted mean, over rows, of the best level so far. Those `given` come
    first and count as chosen. There are fewer than `n` if all others gain too little or take too long.

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


def greedy_together(
    ensemble: EnsembleGain, weights: Floats, costs: Floats, n: int, *, given: Sequence[int] = ()
) -> list[int]:
    """Return candidates (columns) chosen greedily by what they add to an ensemble of those chosen, per cost.

    >>> levels = np.array([[1.0, 0.95, 0.8]])
    >>> greedy_together(EnsembleGain(levels, np.array([0, 0, 1])), np.ones(1), np.ones(3), 2)
    [0, 2]
    """
    chosen = list(given)
    while len(chosen) < min(n, ensemble.levels.shape[1]):
        gain = ensemble.gains(chosen, weights)
        value = np.where(gain >= LEAST_GAIN, gain, 0.0) / costs
        value[chosen] = 0.0
        place = int(np.argmax(value))
        if not value[place] > 0:
            break
        chosen.append(place)
    return chosen


def data_set_weights(known: pd.DataFrame, described: Metafeatures) -> Floats:
    """Return how much each data set (row of metafeatures) counts for one that is described so: similar ones more."""
    return _similarity(known, described)[0]


def _similarity(known: pd.DataFrame, described: Metafeatures) -> tuple[Floats, Floats]:
    """Return the weight of each data set, larger for nearer metafeatures, and its distance."""
    fingerprints = [str(fingerprint) for fingerprint in known.index]
    found = nearest(described, known, n=len(fingerprints))
    rank = {fingerprint: k for k, (fingerprint, _) in enumerate(found)}
    far = dict(found)
    weights = np.array(
        [1 / (1 + rank.get(fingerprint, len(fingerprints)) / HALF_WEIGHT) for fingerprint in fingerprints]
    )
    return weights, np.array([far.get(fingerprint, np.inf) for fingerprint in fingerprints])


def _costs(candidates: Sequence[Suggestion], budget_seconds: float | None) -> Floats:
    if budget_seconds is None:
        return np.ones(len(candidates))
    seconds = np.array([item.seconds for item in candidates])
    usual = float(np.nanmedian(seconds)) if np.isfinite(seconds).any() else 1.0
    seconds = np.where(np.isfinite(seconds), seconds, usual)
    costs: Floats = np.sqrt(np.maximum(seconds, FREE_SHARE * budget_seconds))
    return np.where(seconds > LONGEST_SHARE * budget_seconds, np.inf, costs)
