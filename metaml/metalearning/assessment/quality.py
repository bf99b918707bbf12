"""The quality of a ranking: Kendall's tau-b on data sets that were left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats, Positions
from metaml.metalearning.history import RunHistory, leave_out_parts
from metaml.metalearning.rank_correlation import kendall


@dataclass(frozen=True)
class Quality:
    """Kendall's tau-b for each data set that was left out, with mean and standard error."""

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


def cross_validate(
    history: RunHistory,
    rank: Callable[[RunHistory], Callable[[RunHistory, int], Floats]],
    *,
    n_folds: int | None = 10,
    most_per_dataset: int | None = 100,
    seed: int = 0,
) -> Quality:
    """Return tau-b on each data set, of a ranking learnt without that data set.

    `rank` learns from a history. It returns a function that takes the whole history and a data set (position), and
    scores the runs of that data set. Data sets on which all scores are equal have no order and are skipped.
    """
    taus: dict[str, float] = {}
    for left_out in leave_out_parts(history.datasets, n_folds, seed):
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
    """Return a random split of `n` runs: those that count as evaluated, and those left to be ranked."""
    order = rng.permutation(n)
    return order[:n_evaluations], order[n_evaluations:]


def mean_taus(qualities: Sequence[tuple[str, Quality]]) -> list[dict[str, object]]:
    """Return a row for each ranking: its mean tau, the standard error and the number of data sets."""
    return [
        {"ranking": name, "tau": round(q.mean, 3), "error": round(q.error, 3), "datasets": len(q.taus)}
        for name, q in qualities
    ]
