"""Which settings of an algorithm mattered: the variance of its scores, shared out among its hyperparameters."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from metaml.arrays import Floats
from metaml.budget import Budget
from metaml.encoding import Encoder
from metaml.report.data import TrialRow
from metaml.system.threads import importing

FEWEST_RUNS = 10
MOST_RUNS = 400
N_TREES = 48
N_BACKGROUND, N_VALUES = 40, 12
LEAST_FIT = 0.1
"""If a forest explains less of the variance out of bag, it knows too little about the settings."""


def hyperparameter_importance(
    trials: Sequence[TrialRow], *, seed: int = 0, fewest: int = FEWEST_RUNS, budget: Budget | None = None
) -> dict[str, list[tuple[str, float]]]:
    """Return for each algorithm its settings and their share of the variance of the score, largest first.

    A share is a main effect: the variance of a forest's prediction when one setting varies and the others are
    averaged over, divided by its total variance (functional ANOVA, Hutter et al. 2014). Scores enter as ranks, so one
    terrible run does not decide. An algorithm is left out if it has fewer than `fewest` runs, if the settings do not
    explain its scores, or if the budget is used up; the algorithms with the most runs come first. The shares sum to
    less than one: the rest is due to interactions between settings.
    """
    runs: dict[str, list[TrialRow]] = defaultdict(list)
    for trial in trials:
        if trial.status in ("ok", "partial") and math.isfinite(trial.score) and trial.config:
            runs[trial.algorithm].append(trial)
    shares = {}
    for algorithm, found in sorted(runs.items(), key=lambda item: -len(item[1])):
        if len(found) < fewest or (budget is not None and budget.is_used_up):
            break
        shares[algorithm] = _main_effects(found[-MOST_RUNS:], seed)
    return {algorithm: effects for algorithm, effects in shares.items() if effects}


def _main_effects(runs: Sequence[TrialRow], seed: int) -> list[tuple[str, float]]:
    with importing:
        from sklearn.ensemble import ExtraTreesRegressor

    configs = [run.config for run in runs]
    encoder = Encoder(one_hot=False).fit(configs)
    X = encoder.transform(configs)
    ranks = np.argsort(np.argsort([run.score for run in runs], kind="stable")).astype(np.float64)
    if X.shape[1] == 0 or len({run.score for run in runs}) < 2:
        return []
    X = np.where(np.isnan(X), np.nanmin(X, axis=0) - 1.0, X)
    forest = ExtraTreesRegressor(
        n_estimators=N_TREES, min_samples_leaf=2, bootstrap=True, oob_score=True, random_state=seed
    ).fit(X, ranks)
    if forest.oob_score_ < LEAST_FIT:
        return []
    rng = np.random.default_rng(seed)
    background = X[rng.choice(len(X), min(N_BACKGROUND, len(X)), replace=False)]
    # Rows that mix the settings of different runs stand for the space as a whole.
    mixed = np.column_stack([rng.permutation(column) for column in X.T])
    total = float(np.var(forest.predict(np.vstack([X, mixed]))))
    if total <= 0:
        return []
    shares = []
    first = 0
    for coding in encoder.codings_:
        columns = slice(first, first + len(coding.kept))
        first += len(coding.kept)
        shares.append((coding.name, _marginal_variance(forest.predict, background, X[:, columns], columns) / total))
    excess = max(1.0, sum(value for _, value in shares))
    return sorted(((name, value / excess) for name, value in shares), key=lambda item: -item[1])


def _marginal_variance(predict: Callable[[Floats], Floats], background: Floats, seen: Floats, columns: slice) -> float:
    """Return how much the mean prediction varies with the values of one setting, as often as they were seen."""
    values = seen[np.lexsort(seen.T[::-1])][np.linspace(0, len(seen) - 1, min(N_VALUES, len(seen))).astype(int)]
    grid = np.repeat(background[np.newaxis], len(values), axis=0)
    grid[:, :, columns] = values[:, np.newaxis, :]
    means = predict(grid.reshape(-1, background.shape[1])).reshape(len(values), -1).mean(axis=1)
    return float(np.var(means))
