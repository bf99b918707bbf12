"""Data sets at their fidelity: runs on 2,000 of its rows are experience with another data set than runs on all of them.

A sampled data set is named by the fingerprint of the whole one and the number of rows: "fingerprint@2000". Everything
that is learnt per data set, such as levels, landscapes and similarity, is so learnt as a function of size.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from metaml.arrays import Floats, Positions

MARK = "@"
BANDS_PER_DOUBLING = 2
"""Numbers of rows that differ by less than about 40 % are one size."""
LEAST_IN_COMMON = 2
"""Runs on several fold plans are shifted until they agree, if they have this many configurations in common."""
IN_PROPORTION = (
    "MajorityClassSize",
    "MinorityClassSize",
    "NumberOfMissingValues",
    "NumberOfInstancesWithMissingValues",
)


def sampled(fingerprint: str, n_rows: float) -> str:
    """Return the name of a data set of which only this many rows were used.

    >>> sampled("f00", 2000.0)
    'f00@2000'
    """
    return f"{fingerprint}{MARK}{round(n_rows)}"


def fingerprint_of(dataset: str) -> str:
    """Return the fingerprint of the whole data set.

    >>> fingerprint_of("f00@2000"), fingerprint_of("f00")
    ('f00', 'f00')
    """
    return dataset.partition(MARK)[0]


def n_distinct(datasets: Iterable[str]) -> int:
    """Return how many data sets there are. Samples of different sizes count as one data set.

    >>> n_distinct(["f00", "f00@2000", "f01@500"])
    2
    """
    return len({fingerprint_of(name) for name in datasets})


def by_size(fingerprints: Iterable[str], n_used: Floats, n_rows: Floats) -> tuple[list[str], Positions]:
    """Return the data sets with their sizes, sorted, and the position among them of each run.

    `n_used` are the rows that each run used, `n_rows` those of its data set; where they are about equal, or unknown,
    the run is of the whole data set. A size is called by the median of the rows that were used.

    >>> by_size(["f", "f", "f"], np.array([2000.0, 1990.0, 9000.0]), np.full(3, 9000.0))
    (['f@1995', 'f'], array([0, 0, 1]))
    """
    used, whole = _band(n_used), _band(n_rows)
    is_whole = np.isnan(used) | np.isnan(whole) | (used >= whole)
    frame = pd.DataFrame({"fingerprint": list(fingerprints), "band": np.where(is_whole, np.inf, used), "rows": n_used})
    same = frame.groupby(["fingerprint", "band"])
    medians = same["rows"].median().reset_index()
    names = [
        str(name) if np.isinf(band) else sampled(str(name), rows)
        for name, band, rows in medians.itertuples(index=False, name=None)
    ]
    groups: Positions = same.ngroup().to_numpy().astype(np.int64)
    return names, groups


def _band(n_rows: Floats) -> Floats:
    rounded: Floats = np.round(BANDS_PER_DOUBLING * np.log2(np.maximum(n_rows, 1.0)))
    return rounded


def at_rows(metafeatures: pd.DataFrame, datasets: Iterable[str]) -> pd.DataFrame:
    """Return metafeatures with a row for each data set; of a sample, those that its number of rows changes are changed.

    The counts of rows change in proportion. The others are taken from the whole data set, as the best known guess.

    >>> whole = pd.DataFrame({"NumberOfInstances": [9000.0], "Dimensionality": [0.001]}, index=["f"])
    >>> at_rows(whole, ["f", "f@3000"])["Dimensionality"].round(4).tolist()
    [0.001, 0.003]
    """
    names = list(datasets)
    table = metafeatures.reindex([fingerprint_of(name) for name in names]).set_axis(names, axis=0)
    if "NumberOfInstances" not in table:
        return table
    n_rows = table["NumberOfInstances"].to_numpy(np.float64).copy()
    used = np.array([float(name.partition(MARK)[2] or np.nan) for name in names])
    share = np.where(np.isfinite(used) & (n_rows > 0), used / n_rows, 1.0)
    table = table.astype(np.float64)
    for name in ("NumberOfInstances", *IN_PROPORTION):
        if name in table:
            table[name] = table[name] * share
    if "Dimensionality" in table:
        table["Dimensionality"] = table["Dimensionality"] / share
    return table


def aligned(scores: Floats, groups: Positions, plans: Positions, configs: Positions) -> Floats:
    """Return scores of which those on other fold plans are shifted to the level of the usual plan of their group.

    A held-out fold may be easier than the mean of five. What configurations in common differ by (their median) is due
    to the plan; a plan that shares fewer than two with the usual one is shifted by its median instead, if it has as
    many runs. `groups`, `plans` and `configs` are codes of each run.

    >>> aligned(np.array([0.8, 0.9, 0.7, 0.8]), np.zeros(4, int), np.array([0, 0, 1, 1]), np.array([5, 6, 5, 6]))
    array([0.8, 0.9, 0.8, 0.9])
    """
    found = scores.copy()
    order = np.argsort(groups, kind="stable")
    for places in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        kinds, counts = np.unique(plans[places], return_counts=True)
        if len(kinds) < 2:
            continue
        usual = places[plans[places] == kinds[int(counts.argmax())]]
        level = dict(zip(configs[usual].tolist(), scores[usual].tolist(), strict=True))
        for kind in kinds[np.arange(len(kinds)) != counts.argmax()]:
            others = places[plans[places] == kind]
            codes = zip(others, configs[others].tolist(), strict=True)
            gaps = [level[code] - scores[k] for k, code in codes if code in level]
            if len(gaps) >= LEAST_IN_COMMON:
                found[others] += float(np.median(gaps))
            elif len(others) >= LEAST_IN_COMMON:
                found[others] += float(np.median(scores[usual]) - np.median(scores[others]))
    return found
