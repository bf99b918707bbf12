"""The trials that an ensemble may choose from: the best of all and the best of each algorithm, duplicates once."""

from collections.abc import Sequence

import numpy as np

from metaml.ensemble.pool import distinct, n_each_for, pool
from metaml.tuning.trials import Trial, ranked

N_BEST = 8
"""The best trials that selection looks at, whatever their algorithm."""

LEAST_BREADTH = 12
"""Complete evaluations before any time is kept for depth: repeats and a second layer."""


def is_broad(trials: Sequence[Trial]) -> bool:
    """Return whether enough was tried for depth to pay: what was never tried cannot be repeated or stacked."""
    return len(ranked(trials)) >= LEAST_BREADTH


def candidates_of(trials: Sequence[Trial], n_rows: int) -> list[Trial]:
    """Return the candidates among complete trials that have predictions, best first; `n_rows` rows were tested."""
    names = [f"{trial.layer} {trial.run.algorithm}" for trial in trials]
    scores = [trial.score for trial in trials]
    offered = [trials[place] for place in pool(names, scores, n_best=N_BEST, n_each=n_each_for(n_rows))]
    return [offered[place] for place in distinct([np.asarray(trial.outcome.predictions) for trial in offered])]
