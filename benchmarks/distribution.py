"""Are the intervals of `distribution` as honest and as narrow as conformal ones and LightGBM's quantiles?

Each data set is split: up to `--rows` train, up to 2,000 others judge 90 % intervals by coverage and by the interval
score (width plus 2/0.1 times what lies outside, Gneiting and Raftery 2007), in units of the target's deviation. Each
data set is a few lines of a csv, so that the study can be stopped and resumed.

Run: python benchmarks/distribution.py --out lines.csv
"""

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import pandas as pd
from intervals import DATASETS, REGRESSION
from lightgbm import LGBMRegressor

from metaml.algorithms.componentwise import distribution
from metaml.arrays import Floats
from metaml.data import Dataset, read_dataset

LOW, HIGH, MISS = 0.05, 0.95, 0.1
FIELDS = ("data", "method", "coverage", "interval score", "seconds")


def judged(y: Floats, low: Floats, high: Floats, unit: float) -> tuple[float, float]:
    """Return the coverage and the mean interval score."""
    outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return float((outside == 0).mean()), float((high - low + 2 / MISS * outside).mean() / unit)


def by_distribution(dataset: Dataset, train: Floats, test: Floats, family: str) -> tuple[Floats, Floats]:
    """Return the quantiles of the algorithm with default settings."""
    config = {**distribution.space("regression").default(), "family": family}
    model = distribution.build(config, task="regression", seed=0).fit(
        dataset.X.iloc[train].reset_index(drop=True), dataset.y[train]
    )
    low, high = model.predict_quantiles(dataset.X.iloc[test], [LOW, HIGH]).T
    return low, high


def by_lightgbm(dataset: Dataset, train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Return two quantile regressions of LightGBM."""
    found = []
    for level in (LOW, HIGH):
        model = LGBMRegressor(objective="quantile", alpha=level, n_jobs=1, verbosity=-1)
        found.append(model.fit(dataset.X.iloc[train], dataset.y[train]).predict(dataset.X.iloc[test]))
    return np.minimum(*found), np.maximum(*found)


def by_split(dataset: Dataset, train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Return split-conformal intervals around LightGBM: a quarter of the training rows tells the errors."""
    n = len(train) // 4
    model = LGBMRegressor(n_jobs=1, verbosity=-1).fit(dataset.X.iloc[train[n:]], dataset.y[train[n:]])
    errors = np.abs(dataset.y[train[:n]] - model.predict(dataset.X.iloc[train[:n]]))
    width = np.sort(errors)[min(int(np.ceil((1 - MISS) * (n + 1))), n) - 1]
    centre = model.predict(dataset.X.iloc[test])
    return centre - width, centre + width


METHODS = {
    "distribution, gaussian": lambda *rows: by_distribution(*rows, "gaussian"),
    "distribution, gamma": lambda *rows: by_distribution(*rows, "gamma"),
    "LightGBM quantiles": by_lightgbm,
    "split conformal": by_split,
}


def study(out: Path, n_rows: int) -> None:
    """Append what is missing to the csv."""
    targets = pd.read_csv(DATASETS / "manifest.csv").set_index("name")["target"]
    done = set() if not out.exists() else {row[0] for row in csv.reader(out.open())}
    with out.open("a", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(FIELDS)
        for name in REGRESSION:
            if name in done:
                continue
            dataset = read_dataset(DATASETS / f"{name}.csv.gz", target=targets[name], task="regression")
            order = np.random.default_rng(0).permutation(len(dataset.y))
            n_train = min(n_rows, 2 * len(order) // 3)
            train, test = order[:n_train], order[n_train : n_train + 2000]
            for method, quantiles in METHODS.items():
                begun = time.process_time()
                low, high = quantiles(dataset, train, test)
                coverage, score = judged(dataset.y[test], low, high, float(dataset.y.std()))
                seconds = time.process_time() - begun
                writer.writerow([name, method, f"{coverage:.4f}", f"{score:.4f}", f"{seconds:.2f}"])
            file.flush()


def table(out: Path) -> str:
    """Return means over data sets with standard errors, and coverage data set by data set."""
    frame = pd.read_csv(out)
    whole = frame.groupby("method", sort=False)[["coverage", "interval score", "seconds"]].agg(["mean", "sem", "count"])
    each = frame.pivot_table(index="data", columns="method", values=["coverage", "interval score"], sort=False)
    return f"{whole.round(3).to_string()}\n\n{each.round(3).to_string()}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("distribution.csv"))
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if not given.table:
        study(given.out, given.rows)
    print(table(given.out))
