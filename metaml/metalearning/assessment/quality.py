"""How good a ranking is before anyone trusts it: Kendall's tau-b on data sets that were left out."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from metaml.metalearning.history import RunHistory
from metaml.metalearning.scales import Array, Positions

Ranker = Callable[[RunHistory, int, Positions], Array]
"""Given a history without a data set, that data set's position in the whole, and the runs of it that may be
looked at: a score for each of its runs."""


@dataclass(frozen=True)
class Quality:
    """Kendall's tau-b for each data set that was left out, and what they come to."""

    taus: dict[str, float]

    @property
    def mean(self) -> float:
        """Return the mean over data sets."""
        return float(np.mean(list(self.taus.values()))) if self.taus else 0.0

    @property
    def error(self) -> float:
        """Return the standard error of the mean."""
        values = list(self.taus.values())
        return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def kendall(predicted: Array, observed: Array) -> float:
    """Return Kendall's tau-b (van Hoof 2018, eq. 6.1); 0 where one side has no order.

    >>> kendall(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.3, 0.2])).__round__(3)
    0.333
    >>> kendall(np.array([1.0, 1.0]), np.array([0.1, 0.3]))
    0.0
    """
    if len(predicted) < 2 or np.ptp(predicted) == 0 or np.ptp(observed) == 0:
        return 0.0
    from scipy.stats import kendalltau

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tau = float(kendalltau(predicted, observed).statistic)
    return tau if np.isfinite(tau) else 0.0


def folds(n_datasets: int, n_folds: int | None, seed: int = 0) -> Iterator[list[int]]:
    """Yield the data sets to leave out together: one at a time, or in `n_folds` random parts.

    >>> [sorted(part) for part in folds(3, None)]
    [[0], [1], [2]]
    """
    if n_folds is None or n_folds >= n_datasets:
        yield from ([k] for k in range(n_datasets))
        return
    order = np.random.default_rng(seed).permutation(n_datasets)
    yield from ([int(k) for k in part] for part in np.array_split(order, n_folds))


def cross_validate(
    history: RunHistory,
    rank: Callable[[RunHistory], Callable[[RunHistory, int], Array]],
    *,
    n_folds: int | None = 10,
    most_per_dataset: int | None = 100,
    seed: int = 0,
) -> Quality:
    """Return tau-b on each data set of rankings learnt without it.

    `rank` learns from a history and returns a function that scores the runs of one data set of the whole.
    Data sets on which all scores are equal have no order to be found and are left out.
    """
    taus: dict[str, float] = {}
    for left_out in folds(history.n_datasets, n_folds, seed):
        training = history.without(left_out)
        if most_per_dataset is not None:
            training = training.thinned(most_per_dataset, seed)
        ranking = rank(training)
        for k in left_out:
            places = history.places[k]
            if len(places) < 2 or np.ptp(history.scores[places]) == 0:
                continue
            taus[history.datasets[k]] = kendall(ranking(history, k), history.scores[places])
    return Quality(taus)


def looked_at(n: int, n_evaluations: int, rng: np.random.Generator) -> tuple[Positions, Positions]:
    """Return which of `n` runs count as evaluated here, drawn at random, and which are left to be ranked."""
    order = rng.permutation(n)
    return order[:n_evaluations], order[n_evaluations:]


def summary(qualities: Sequence[tuple[str, Quality]]) -> list[dict[str, object]]:
    """Return a row for each ranking: its mean tau, the standard error and the number of data sets."""
    return [
        {"ranking": name, "tau": round(q.mean, 3), "error": round(q.error, 3), "datasets": len(q.taus)}
        for name, q in qualities
    ]
