"""Which algorithm is better on many data sets: mean ranks, and which differences are significant."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import pandas as pd

from metaml.arrays import Floats

SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False)
class Ranking:
    """Algorithms, best first. `groups` are sets of neighbours that cannot be told apart (positions: first, last).

    `mean_ranks` has their mean ranks over data sets, 1 is best. `p_values` is the matrix of two-sided Wilcoxon
    signed-rank tests, corrected by Holm's method for all pairs. `friedman` is the p-value of Friedman's test that all
    are alike; NaN for fewer than three.
    """

    names: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    p_values: Floats
    groups: tuple[tuple[int, int], ...]
    n_datasets: int
    friedman: float = math.nan


def rank_algorithms(scores: pd.DataFrame, *, significant: float = SIGNIFICANT) -> Ranking:
    """Return the ranking of algorithms (columns) by their scores, higher is better, on data sets (rows).

    A missing score is an algorithm that failed: it shares the last rank. Data sets on which nothing worked are ignored.
    Demšar (2006); pairs by Wilcoxon and Holm as Benavoli, Corani & Mangili (2016) recommend.

    >>> table = pd.DataFrame({"a": [0.9, 0.8, 0.7], "b": [0.5, 0.4, None]})
    >>> rank_algorithms(table).names, rank_algorithms(table).mean_ranks
    (('a', 'b'), (1.0, 2.0))
    """
    table = scores[scores.notna().any(axis=1)]
    names = [str(name) for name in table.columns]
    if table.empty:
        return Ranking(tuple(names), tuple(math.nan for _ in names), np.ones((len(names), len(names))), (), 0)
    ranks = table.rank(axis=1, ascending=False, na_option="bottom").mean(axis=0).to_numpy(np.float64)
    order = np.argsort(ranks, kind="stable")
    # A failure is at most as bad as the worst that worked: the tests then exaggerate nothing.
    values = table.apply(lambda row: row.fillna(row.min()), axis=1).to_numpy(np.float64)[:, order]
    p_values = _holm(values)
    return Ranking(
        tuple(names[k] for k in order),
        tuple(float(ranks[k]) for k in order),
        p_values,
        _groups(p_values, significant),
        len(table),
        _friedman(values),
    )


def expected_best(scores: Sequence[float], k: int) -> float:
    """Return the mean of the best of `k` runs that are drawn without repetition; NaN if there are fewer than `k`.

    Algorithms with different numbers of runs can be compared by it: the best of many is better by chance alone.

    >>> expected_best([0.0, 1.0], 1), expected_best([0.0, 1.0], 2)
    (0.5, 1.0)
    """
    n = len(scores)
    if n < k:
        return math.nan
    return float(np.sort(np.asarray(scores, dtype=np.float64)) @ _chances(n, k))


@lru_cache(maxsize=1024)
def _chances(n: int, k: int) -> Floats:
    """Return how likely each of `n` runs, worst first, is the best of `k`: the others are among those before it."""
    return np.array([math.comb(i, k - 1) / math.comb(n, k) for i in range(n)])


def wins(scores: pd.DataFrame, by: "pd.Series[str]") -> pd.DataFrame:
    """Return how often each algorithm (column) is best in each group of data sets (rows); ties are shared.

    `by` has the group of each data set, on the index of `scores`. The last column is the number of data sets.

    >>> table = pd.DataFrame({"a": [0.9, 0.8], "b": [0.5, 0.8]})
    >>> wins(table, pd.Series(["small", "small"])).loc["small"].tolist()
    [1.5, 0.5, 2.0]
    """
    table = scores[scores.notna().any(axis=1)]
    is_best = table.eq(table.max(axis=1), axis=0).astype(np.float64)
    shared = is_best.div(is_best.sum(axis=1), axis=0)
    grouped = shared.groupby(by.reindex(table.index), sort=False)
    return grouped.sum().assign(datasets=grouped.size())


def _holm(values: Floats) -> Floats:
    """Return the matrix of corrected p-values of all pairs of columns."""
    n = values.shape[1]
    pairs = list(combinations(range(n), 2))
    raw = np.array([_wilcoxon(values[:, i] - values[:, j]) for i, j in pairs])
    order = np.argsort(raw, kind="stable")
    steps = raw[order] * (len(raw) - np.arange(len(raw)))
    corrected = np.empty(len(raw))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(raw) else steps
    matrix = np.ones((n, n))
    for (i, j), p in zip(pairs, corrected, strict=True):
        matrix[i, j] = matrix[j, i] = p
    return matrix


def _wilcoxon(differences: Floats) -> float:
    """Return the two-sided p-value that the median difference is zero; zeros count half to either side."""
    from scipy.stats import wilcoxon

    if not np.any(differences):
        return 1.0
    return float(wilcoxon(differences, zero_method="zsplit").pvalue)


def _friedman(values: Floats) -> float:
    from scipy.stats import friedmanchisquare

    if values.shape[1] < 3 or len(values) < 2 or not np.ptp(values, axis=1).any():
        return math.nan
    return float(friedmanchisquare(*values.T).pvalue)


def _groups(p_values: Floats, significant: float) -> tuple[tuple[int, int], ...]:
    """Return the longest runs of neighbours in which no pair differs significantly."""
    n, groups = len(p_values), []
    last_end = 0
    for start in range(n):
        end = start
        while end + 1 < n and (p_values[start : end + 1, end + 1] > significant).all():
            end += 1
        if end > start and end > last_end:
            groups.append((start, end))
            last_end = end
    return tuple(groups)
