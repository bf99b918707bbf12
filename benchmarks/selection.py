"""Do probing and stability selection find the informative columns in the simulation of Thomas et al. (2017)?

Rows are drawn from a normal distribution with Toeplitz correlation 0.9, classes from a logistic model of a few columns
(document 003, ch. 4, sec. 3). Each repetition is a line of a csv, so that the study can be stopped and resumed.

Run: python benchmarks/selection.py --out selection.csv; with --table, it only prints what is there.
"""

import argparse
import csv
import math
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from metaml.algorithms.componentwise.losses import loss_of
from metaml.algorithms.componentwise.selection import Rows, probe, stability
from metaml.arrays import Floats, Positions

N_ROWS, N_COLUMNS, N_INFORMATIVE = (100, 500), (100, 500, 1000), (6, 20)
CORRELATION = 0.9
THRESHOLD, ERRORS = 0.75, (2.5, 8.0)
"""Settings of stability selection in the document; columns per half sample follow from its equation 7."""
FIELDS = ("n", "p", "informative", "seed", "method", "found", "false", "seconds")


def drawn(n: int, p: int, n_informative: int, rng: np.random.Generator) -> tuple[Floats, Floats, Positions]:
    """Return columns, classes and which columns are informative."""
    noise = rng.normal(size=(n, p))
    X = noise.copy()
    for place in range(1, p):
        X[:, place] = CORRELATION * X[:, place - 1] + math.sqrt(1 - CORRELATION**2) * noise[:, place]
    informative = rng.choice(p, n_informative, replace=False)
    score = X[:, informative] @ rng.uniform(-1, 1, n_informative)
    return X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.float64), informative


def study(out: Path, repetitions: int, n_pairs: int, columns: Sequence[int], n_informatives: Sequence[int]) -> None:
    """Append what is missing to the csv, the cells with few columns first."""
    done = set() if not out.exists() else {tuple(row[:4]) for row in csv.reader(out.open())}
    with out.open("a", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(FIELDS)
        for p, seed, n_informative, n in product(columns, range(repetitions), n_informatives, N_ROWS):
            key = tuple(map(str, (n, p, n_informative, seed)))
            if key in done:
                continue
            for name, found, false, seconds in methods(n, p, n_informative, seed, n_pairs):
                writer.writerow([*key, name, found, false, f"{seconds:.3f}"])
            file.flush()


def methods(n: int, p: int, n_informative: int, seed: int, n_pairs: int) -> list[tuple[str, int, int, float]]:
    """Return what each method found, what it found falsely, and its CPU seconds."""
    X, y, informative = drawn(n, p, n_informative, np.random.default_rng([seed, n, p, n_informative]))
    rows, loss = Rows(X, np.zeros(p, dtype=bool), np.ones(n), y[:, None]), loss_of(2)
    results = []

    def judge(name: str, chosen: Floats, begun: float) -> None:
        found = int(chosen[informative].sum())
        results.append((name, found, int(chosen.sum()) - found, time.process_time() - begun))

    begun = time.process_time()
    judge("probing", probe(rows, loss, np.random.default_rng(seed), curves=False).first > 0, begun)
    for errors in ERRORS:
        q = max(int(math.sqrt(errors * (2 * THRESHOLD - 1) * p)), 1)
        begun = time.process_time()
        stable = stability(
            rows, loss, np.random.default_rng(seed), curves=False, threshold=THRESHOLD, n_per_sample=q, n_pairs=n_pairs
        )
        judge(f"stability ({THRESHOLD:g}, {errors:g})", stable.chosen, begun)
    begun = time.process_time()
    stable = stability(rows, loss, np.random.default_rng(seed), curves=False, n_pairs=n_pairs)
    judge("stability, default", stable.chosen, begun)
    return results


def table(out: Path) -> pd.DataFrame:
    """Return means over repetitions."""
    frame = pd.read_csv(out)
    frame["true positive rate"] = frame["found"] / frame["informative"]
    chosen = frame["found"] + frame["false"]
    frame["false discovery rate"] = (frame["false"] / chosen.where(chosen > 0)).fillna(0.0)
    by = ["informative", "n", "p", "method"]
    means = ["found", "false", "true positive rate", "false discovery rate", "seconds"]
    return frame.groupby(by, sort=False)[means].mean().join(frame.groupby(by).size().rename("repetitions"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("selection.csv"))
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=25)
    parser.add_argument("--columns", type=int, nargs="+", default=N_COLUMNS)
    parser.add_argument("--informative", type=int, nargs="+", default=N_INFORMATIVE)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if not given.table:
        study(given.out, given.repetitions, given.pairs, given.columns, given.informative)
    print(table(given.out).round(2).to_string())
