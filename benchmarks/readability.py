"""What does a model that a person can read cost, compared with the full search, and is the search for one worth it?

Data sets of 200 to 3,000 rows and at most 30 columns, half of them with classes, in the order of their checksums. Each
is split: up to `--rows` train five searches of `--iterations` evaluations in three folds, up to 2,000 others judge them
by log loss or RMSE. Nothing depends on the clock. Each search is a line of a csv, so that the study can be resumed.

Run: python benchmarks/readability.py --out readability.csv

With `--defaults` nothing is searched: the default of each algorithm is fitted to the same rows, which takes seconds.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from intervals import DATASETS

from metaml.algorithms import ALGORITHMS
from metaml.api import tune
from metaml.data import from_frame, read_frame
from metaml.metrics import metric

SEARCHES: dict[str, dict[str, Any]] = {
    "default search": {},
    "--readable": {"readable": True},
    "elastic net": {"algorithms": "elastic_net", "single": True},
    "small tree": {"algorithms": "small_tree", "single": True},
    "additive": {"algorithms": "additive", "single": True},
    "EBM": {"algorithms": "ebm", "single": True},
}
DEFAULTS = ("lightgbm", "random_forest", "additive", "ebm", "elastic_net", "small_tree")
FIELDS = ("data", "task", "search", "chosen", "columns", "loss", "seconds")
N_FOLDS, LIMIT_SECONDS = 3, 3600.0


def chosen_datasets(n: int) -> pd.DataFrame:
    """Return so many data sets, regression and classes in turns."""
    listed = pd.read_csv(DATASETS / "manifest.csv")
    listed = listed[listed["n_rows"].between(200, 3000) & (listed["n_features"] <= 30)].sort_values("md5")
    is_number = (listed["task"] == "regression").to_numpy()
    turn = np.where(is_number, is_number.cumsum(), (~is_number).cumsum())
    return listed.iloc[np.argsort(turn, kind="stable")[:n]]


def judged(name: str, target: str, task: str, options: dict[str, Any], rows: int, iterations: int) -> list[object]:
    """Return what one search has chosen, how many columns it reads, and its loss on rows that it has not seen."""
    frame = read_frame(DATASETS / f"{name}.csv.gz")
    frame = frame[frame[target].notna()]
    order = np.random.default_rng(0).permutation(len(frame))
    n_train = min(rows, 2 * len(frame) // 3)
    train, test = frame.iloc[order[:n_train]], frame.iloc[order[n_train : n_train + 2000]]
    measure = "neg_rmse" if task == "regression" else "neg_log_loss"
    begun = time.perf_counter()
    model = tune(
        train,
        target,
        task=task,
        metric=measure,
        iterations=iterations,
        folds=N_FOLDS,
        limit_seconds=LIMIT_SECONDS,
        kb=":memory:",
        layers=1,
        sample=False,
        **options,
    ).model
    seconds = time.perf_counter() - begun
    if task == "regression":
        predicted, truth = model.predict(test), test[target].to_numpy(dtype=np.float64)
    else:
        labels = pd.Index(np.asarray(model.labels).astype(str))
        truth = labels.get_indexer(pd.Index(test[target].astype(str)))
        predicted = model.predict_proba(test)[truth >= 0]
        truth = truth[truth >= 0]
    loss = -metric(measure).function(truth, predicted)
    chosen = "+".join(sorted({member.algorithm for member in model.members}))
    return [chosen, frame.shape[1] - 1, f"{loss:.5f}", f"{seconds:.1f}"]


def fitted(name: str, target: str, task: str, algorithm: str, rows: int) -> list[object]:
    """Return the same as `judged` for the default of an algorithm, without a search."""
    frame = read_frame(DATASETS / f"{name}.csv.gz")
    frame = frame[frame[target].notna()]
    order = np.random.default_rng(0).permutation(len(frame))
    n_train = min(rows, 2 * len(frame) // 3)
    data = from_frame(frame.iloc[order[: n_train + 2000]].reset_index(drop=True), target=target, task=task, name=name)
    train, test = np.arange(n_train), np.arange(n_train, len(data.y))
    is_number = task == "regression"
    begun = time.process_time()
    config = ALGORITHMS[algorithm].space(data.task).default()
    model = ALGORITHMS[algorithm].build(config, task=data.task, seed=0, n_threads=1, seconds=None)
    model.fit(data.X.iloc[train].reset_index(drop=True), data.y[train])
    seconds = time.process_time() - begun
    rows_left = data.X.iloc[test].reset_index(drop=True)
    predicted = np.asarray(model.predict(rows_left) if is_number else model.predict_proba(rows_left))
    loss = -metric("neg_rmse" if is_number else "neg_log_loss").function(data.y[test], predicted)
    return [algorithm, data.X.shape[1], f"{loss:.5f}", f"{seconds:.2f}"]


def study(out: Path, n_datasets: int, rows: int, iterations: int, searches: list[str], *, is_default: bool) -> None:
    """Append what is missing to the csv."""
    done = set() if not out.exists() else {(row[0], row[2]) for row in csv.reader(out.open())}
    with out.open("a", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(FIELDS)
        for _, item in chosen_datasets(n_datasets).iterrows():
            for search in searches:
                if (item["name"], search) in done or (search == "EBM" and "ebm" not in ALGORITHMS):
                    continue
                about = (item["name"], item["target"], item["task"])
                if is_default:
                    found = fitted(*about, search, rows)
                else:
                    found = judged(*about, SEARCHES[search], rows, iterations)
                writer.writerow([item["name"], item["task"], search, *found])
                file.flush()


def table(out: Path, usual: str) -> str:
    """Return the loss of each search relative to the usual one, in per cent, on the data sets that are complete."""
    frame = pd.read_csv(out)
    losses = frame.pivot_table(index="data", columns="search", values="loss", sort=False).dropna()
    more = 100 * losses.div(losses[usual], axis=0).sub(1).drop(columns=usual)
    lines = pd.DataFrame(
        {
            "mean %": more.clip(-50, 50).mean(),
            "± %": more.clip(-50, 50).sem(),
            "median %": more.median(),
            "won": (more < 0).sum(),
            "lost": (more > 0).sum(),
        }
    )
    picked = frame[frame["search"] == "--readable"]["chosen"].value_counts().to_dict()
    return f"{losses.round(4).to_string()}\n\n{lines.round(1).to_string()}\n\n--readable chose {picked}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("readability.csv"))
    parser.add_argument("--datasets", type=int, default=30)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES), choices=list(SEARCHES))
    parser.add_argument("--defaults", action="store_true")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    searches = list(DEFAULTS) if given.defaults else given.searches
    if not given.table:
        study(given.out, given.datasets, given.rows, given.iterations, searches, is_default=given.defaults)
    print(table(given.out, searches[0]))
